"""How often does one command do the same work? Counts calls of some functions in `run` and `score` of one experiment.

    python benchmarks/hops.py NAME=CHECKOUT [NAME=CHECKOUT ...]

Each command runs with the code of each checkout, under a profiler, in a folder of its own. Counted are how often a
training is made from objects (`to_json`) and turned back into objects (`from_json`), the engine's job and the problem
are built, results are opened, and a database is connected; and the files of the package with a function that ran.
Prints one JSON record with an entry for each checkout.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from _record import report

CELL = ("--task", "parity_check", "--model", "rnn", "--seeds", "1", "--set", "steps=20", "--set", "hidden_size=4")
FEW = ("--set", "test_lengths=41,42", "--set", "strings_per_length=2")
COMMANDS = {
    "run": ("run", "chomsky", *CELL, *FEW, "--no-estimate", "--out", "results"),
    "score": ("score", "chomsky", "parity_check", "predictions.jsonl", *FEW, "--out", "results", "--name", "counts"),
}
# For each count: the last parts of file and function, in any version.
COUNTED = {
    "to_json": (("suites/base.py", "AbstractSuite.training"), ("suites/resolving.py", "make_training")),
    "from_json": (("suites/base.py", "AbstractSuite.restore"), ("suites/resolving.py", "resolve")),
    "jobs": (
        ("suites/chomsky/__init__.py", "Chomsky.job"),
        ("suites/chomsky/suite.py", "Chomsky.job"),
        ("suites/counting.py", "AbstractCountingSuite.job"),
    ),
    "problems": (("suites/chomsky/problem.py", "Transduction.__init__"),),
    "stores": (("store.py", "Store.__init__"), ("store.py", "Store.open")),
}
# Runs in the process that is measured; the first argument is the file that gets the counts.
COUNTING = """
import json, sqlite3, sys, threading
from collections import Counter

target, counts, files = sys.argv.pop(1), Counter(), set()

def seen(frame, event, arg):
    code = frame.f_code
    if event == "call" and "/humboldt/" in code.co_filename:
        name = code.co_filename.rpartition("/src/humboldt/")[2]
        files.add(name)
        counts[name + " " + code.co_qualname] += 1
    elif event == "c_call" and arg is sqlite3.connect:
        counts["connections"] += 1

import humboldt.cli
threading.setprofile(seen)
sys.setprofile(seen)
try:
    humboldt.cli.main()
except SystemExit as error:
    if error.code:
        raise
finally:
    sys.setprofile(None)
    json.dump({"counts": counts, "files": len(files)}, open(target, "w"))
"""


def hops(checkout: Path, command: str) -> dict[str, Any]:
    """Returns the counts of one command with the code of a checkout."""
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src"), "JAX_PLATFORMS": "cpu"}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        if command == "score":
            write_predictions(folder, environment)
        arguments = [sys.executable, "-c", COUNTING, "counts.json", *COMMANDS[command]]
        done = subprocess.run(arguments, cwd=folder, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        measured = json.loads((folder / "counts.json").read_text())
    counts = measured["counts"]
    return {
        **{name: sum(counted(counts, place) for place in places) for name, places in COUNTED.items()},
        "connections": counts.get("connections", 0),
        "files": measured["files"],
    }


def counted(counts: dict[str, int], place: tuple[str, str]) -> int:
    """Returns the number of calls of a function in the files whose names end like this.

    >>> calls = {"storage/store.py Store.open": 2, "store.py Store.open": 1, "rows.py open": 5}
    >>> counted(calls, ("store.py", "Store.open"))
    3
    """
    path, name = place
    wanted = f"{path} {name}"
    return sum(number for key, number in counts.items() if key == wanted or key.endswith(f"/{wanted}"))


def write_predictions(folder: Path, environment: dict[str, str]) -> None:
    """Writes the right answers to all test strings as predictions."""
    command = [sys.executable, "-m", "humboldt", "data", "chomsky", "parity_check", "--split", "test", *FEW]
    text = subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True).stdout
    rows = [json.loads(line) for line in text.splitlines()]
    written = [json.dumps({**row, "prediction": row["target"]}) + "\n" for row in rows]
    (folder / "predictions.jsonl").write_text("".join(written))


def main() -> None:
    """Prints the record."""
    if len(sys.argv) < 2 or not all("=" in argument for argument in sys.argv[1:]):
        sys.exit(__doc__)
    checkouts = {name: Path(path).resolve() for name, _, path in (text.partition("=") for text in sys.argv[1:])}
    report("hops", {name: {c: hops(path, c) for c in COMMANDS} for name, path in checkouts.items()})


if __name__ == "__main__":
    main()
