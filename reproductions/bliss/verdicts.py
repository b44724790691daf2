"""Every member's verdict at both margins, from results folders of runs with `evaluate=all`.

python reproductions/bliss/verdicts.py FOLDER ... > reproductions/bliss/verdicts.json

A run without that setting does not ask a member at ε = 0.005 once another member of its experiment has met it, so its
members can be counted at ε = 0 only.
"""

import json
import sys
from pathlib import Path
from typing import Any

from humboldt.store import Store


def members(folder: Path) -> list[dict[str, Any]]:
    """One entry for each member."""
    return [
        {
            "task": run.task,
            "model": run.model,
            "train_size": 10 ** run.setting["order"] // run.setting["factor"],
            "string_order": run.setting["string_order"],
            "epochs": run.setting["epochs"],
            "stack_size": run.setting["model"].get("stack_size"),
            "seed": result.member["seed"],
            "met": {name[4:]: bool(value) for name, value in result.measures.items() if name.startswith("met_")},
            "errors": {
                f"{score['epsilon']:g}": [score["errors"], score["steps"]]
                for score in result.detail["scores"]
                if score["complete"] and score["measure"] == ("M_cat" if run.task.startswith("dyck") else "M_det")
            },
            "largest_n": result.measures["largest_n"],
        }
        for run, results in Store.open(folder).runs("bliss")
        if run.setting["evaluate"] == "all"
        for result in results
    ]


def main() -> None:
    """Prints one JSON list."""
    entries = [entry for folder in sys.argv[1:] for entry in members(Path(folder))]
    print("[" + ",\n".join(json.dumps(entry) for entry in entries) + "]")


if __name__ == "__main__":
    main()
