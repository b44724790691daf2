"""Is a new version slower? Runs the CPU benchmarks of two checkouts in turn, each with its own code.

    python benchmarks/alternating.py OLD NEW [ROUNDS [NAME ...]]

Prints one JSON record: for every benchmark the seconds that the same work takes in each round, old and new, and the
median of the ratios new / old. Other work on the machine slows both, but not equally: run it on an idle one.
"""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _record import report

#: Command, and the seconds that its record says some work takes.
BENCHMARKS: dict[str, Callable[[dict[str, Any]], float]] = {
    **{
        f"training_speed.py --model {model}": lambda record: 1 / record["steps_per_second"]["median"]
        for model in ("rnn", "lstm", "stack_rnn", "tape_rnn")
    },
    "samplers.py": lambda record: sum(result["median_ms"] for result in record["results"]) / 1000,
    "syntax_data.py": lambda record: sum(part["median"] for part in record["splits_s"].values()),
    "bliss_evaluation.py": lambda record: record["seconds"]["processor"],
    "mdl_search.py": lambda record: 1 / record["results"]["default"]["per_second_median"],
    "evaluation_speed.py": lambda record: record["seconds_with_compilation"],
}


def seconds(tree: Path, command: str) -> float:
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    done = subprocess.run(
        [sys.executable, *command.split()], cwd=tree / "benchmarks", env=environment, capture_output=True, text=True
    )
    if not done.stdout:
        raise RuntimeError(done.stderr)
    return BENCHMARKS[command](json.loads(done.stdout))


def compare(old: Path, new: Path, command: str, rounds: int) -> dict[str, Any]:
    pairs = [(seconds(old, command), seconds(new, command)) for _ in range(rounds)]
    ratios = [after / before for before, after in pairs]
    result = {"seconds": pairs, "ratio": round(statistics.median(ratios), 3)}
    print(command, result, file=sys.stderr, flush=True)  # the whole takes half an hour
    return result


if __name__ == "__main__":
    trees, rounds = [Path(name).resolve() for name in sys.argv[1:3]], int((sys.argv[3:] or ["3"])[0])
    wanted = [name for name in BENCHMARKS if not sys.argv[4:] or any(part in name for part in sys.argv[4:])]
    report("alternating", {name: compare(trees[0], trees[1], name, rounds) for name in wanted})
