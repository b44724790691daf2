"""Do two versions of the code give the same results? Compares the members of two folders of results, bit by bit.

    python benchmarks/same_results.py run FOLDER [CHECKOUT]
    python benchmarks/same_results.py OLD_FOLDER NEW_FOLDER

The first runs the commands of `same_results.txt`, each into a folder of its own, with the code of another checkout if
there is one. The second prints one JSON record: how many members were compared, and every difference. A folder holds
`results.db` files at any depth. Models from files are those of this checkout, for both.
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from _record import report

from humboldt.core.identity import canonical
from humboldt.core.results import State
from humboldt.storage.store import Store
from humboldt.suites.reading import upgrade

HERE = Path(__file__).parent
Members = dict[tuple[str, ...], dict[str, Any]]


def members(folder: Path) -> Members:
    """Every member's measures and curves of training (stored with six decimals), by what it is."""
    all_members: Members = {}
    for database in sorted(folder.rglob("results.db")):
        for scores in Store.open(database.parent, upgrade).scores():
            training = scores.training
            about = (training.suite, training.task, training.model, canonical(training.setting))
            for result in scores.results:
                curves = {f"curve of {name}": curve for name, curve in result.detail.get("training", {}).items()}
                key = (*about, canonical(scores.evaluation.setting), canonical(result.member))
                all_members[key] = {**result.measures, **curves} if result.state is State.FINISHED else {}
    return all_members


def compare(old: Members, new: Members) -> dict[str, object]:
    """What is the same and what is not. Measures that only the new code has are counted apart."""
    differences, added = [], set()
    for key, values in old.items():
        theirs = new.get(key)
        if theirs is None:
            differences.append({"member": key, "problem": "missing in the new results"})
            continue
        added |= {f"{key[0]}: {name}" for name in set(theirs) - set(values)}
        for name, value in values.items():
            if theirs.get(name) != value:
                differences.append(
                    {"member": [*key[:3], key[-1]], "measure": name, "old": value, "new": theirs.get(name)}
                )
    by_model = sorted({" ".join(key[:3]) for key in old})
    return {
        "members": len(old),
        "values": sum(map(len, old.values())),
        "cells": by_model,
        "only in the new code": sorted(added),
        "differences": differences,
    }


def run(folder: Path, checkout: Path) -> None:
    """Runs every command of `same_results.txt`. A folder that has results already is not run again."""
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    number = 0
    lines = (HERE / "same_results.txt").read_text().splitlines()
    for line in (line for line in lines if not line.startswith("#")):
        number += not line.startswith("+")
        out = folder.resolve() / f"{number:02}"
        command = ["humboldt", "run", *shlex.split(line.removeprefix("+")), "--no-estimate", "--out", str(out)]
        print(shlex.join(command), file=sys.stderr, flush=True)
        program = [sys.executable, "-m", *command]
        subprocess.run(program, check=True, stdout=subprocess.DEVNULL, cwd=HERE.parent, env=environment)


if __name__ == "__main__":
    if sys.argv[1] == "run":
        run(Path(sys.argv[2]), Path((sys.argv[3:] or [HERE.parent])[0]).resolve())
        sys.exit()
    report("same_results", compare(members(Path(sys.argv[1])), members(Path(sys.argv[2]))))
