"""Who meets the criteria, and with how many errors: what the B-index leaves out, from a results folder.

python met.py FOLDER > met.json
"""

import json
import sys
from pathlib import Path

from humboldt.suites import suites
from humboldt.suites.cells import heading_of
from humboldt.suites.reading import stored

KEPT = ("measure", "epsilon", "errors", "steps", "met_over_test_set", "met_per_string")


def main() -> None:
    """Prints one JSON list: every member that meets some criterion, with the scores taken to the end."""
    found = []
    for evaluated in stored(Path(sys.argv[1]), "bliss"):
        training = evaluated.training
        for result in evaluated.results:
            if not any(value for name, value in result.measures.items() if name.startswith("met_")):
                continue
            scores = [{name: score[name] for name in KEPT} for score in result.detail["scores"] if score["complete"]]
            network = {
                name: training.setting["model"][name]
                for name in ("hidden_size", "stack_size")
                if name in training.setting["model"]
            }
            which = {
                "task": training.task,
                "model": training.model,
                "setting": str(heading_of(suites.get("bliss"), evaluated)),
                "train_size": 1000 // training.setting["factor"],
            }
            found.append(
                {**which, "epochs": training.setting["epochs"], **network, "member": result.member, "scores": scores}
            )
    print("[" + ",\n".join(json.dumps(entry) for entry in found) + "]")


if __name__ == "__main__":
    main()
