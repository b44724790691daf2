"""Every member's verdict at both margins, from results folders.

python reproductions/bliss/verdicts.py FOLDER ... > reproductions/bliss/verdicts.json

Results of version 0.1 may lack the verdict at ε = 0.005 of members that were not read for it: they are left out.
"""

import json
import sys
from pathlib import Path
from typing import Any

from humboldt.suites.reading import stored


def members(folder: Path) -> list[dict[str, Any]]:
    """One entry for each member."""
    return [
        {
            "task": scores.training.task,
            "model": scores.training.model,
            "train_size": 10 ** scores.training.setting["order"] // scores.training.setting["factor"],
            "string_order": scores.training.setting["string_order"],
            "epochs": scores.training.setting["epochs"],
            "stack_size": scores.training.setting["model"].get("stack_size"),
            "seed": result.member["seed"],
            "met": {name[4:]: bool(value) for name, value in result.measures.items() if name.startswith("met_")},
            "errors": {
                f"{score['epsilon']:g}": [score["errors"], score["steps"]]
                for score in result.detail["scores"]
                if score["complete"]
                and score["measure"] == ("M_cat" if scores.training.task.startswith("dyck") else "M_det")
            },
            "largest_n": result.measures["largest_n"],
        }
        for scores in stored(folder, "bliss")
        for result in scores.results
        if "met_0.005" in result.measures
    ]


def main() -> None:
    """Prints one JSON list."""
    entries = [entry for folder in sys.argv[1:] for entry in members(Path(folder))]
    print("[" + ",\n".join(json.dumps(entry) for entry in entries) + "]")


if __name__ == "__main__":
    main()
