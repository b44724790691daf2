"""How long `show`, `report` and `archive` take with many members, and how much memory.

    python benchmarks/large_studies.py [--sizes 5000,10000] [--cells 1]

The studies are made up: members of the Chomsky suite's RNN with scores drawn at random and a curve each, as real
members have, written through the store; all of them in one cell, or in several. Each command is a process of its own.
Prints one JSON record. Processor time is told beside wall time: other work may be running.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from _record import report

from humboldt.core.results import ScoredMember, State, TrainedMember
from humboldt.storage.store import Store
from humboldt.suites import catalogue, plans, suites
from humboldt.suites.reading import upgrade

SIZES = tuple(range(5_000, 100_001, 5_000))  # members
LENGTHS = list(range(41, 501, 20))
COMMANDS = {"show": ("show",), "report": ("report", "--output"), "archive": ("archive", "--output")}
MOST_SECONDS, MOST_MEGABYTES = 10, 500  # that 100,000 members may take


def fill(folder: Path, members: int, cells: int = 1) -> None:
    """A study with so many members, divided among cells with different numbers of steps."""
    suite, store, rng = suites.get("chomsky"), Store(folder, upgrade), np.random.default_rng(0)
    environment = {"device": "cpu: made up", "humboldt": "0", "python": "3"}
    for number in range(cells):
        changes = {"steps": 1000 + number}
        (resolved,) = plans.trainings(suite, "parity_check", "rnn", catalogue.preset(suite, "paper"), changes)
        training, protocol = resolved.training, resolved.protocol
        (evaluation,) = suite.evaluations(protocol, "parity_check")
        trained, scored = [], []
        for seed in range(members // cells):
            member = {"seed": seed, "learning_rate": protocol.learning_rates[0]}
            curve = np.clip(rng.normal(rng.random(), 0.1, len(LENGTHS)), 0, 1).round(4).tolist()
            detail = {"accuracy_per_length": {"lengths": LENGTHS, "accuracy": curve}}
            trained.append(TrainedMember(member, State.FINISHED, 1.0, {}, environment))
            scored.append(ScoredMember(member, State.FINISHED, {"score": float(np.mean(curve))}, 1.0, detail))
        store.add(training, trained, [(evaluation, scored)], format=suite.format)


def measure(command: str, folder: Path, output: Path) -> dict[str, float]:
    """Seconds and the largest memory of one command."""
    name, *option = COMMANDS[command]
    arguments = [sys.executable, "-m", "humboldt", name, str(folder), *option, *([str(output)] if option else [])]
    begin = time.monotonic()
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.monotonic() - begin
    assert process.stderr is not None
    said = process.stderr.read().decode()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(said)
    return {
        "wall_seconds": round(seconds, 2),
        "processor_seconds": round(used.ru_utime + used.ru_stime, 2),
        "peak_megabytes": round(used.ru_maxrss / 1024),  # Linux counts in kilobytes
    }


def main() -> None:
    """Prints the record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--cells", type=int, default=1)
    arguments = parser.parse_args()
    results = []
    for members in map(int, arguments.sizes.split(",")):
        with tempfile.TemporaryDirectory() as name:
            folder, output = Path(name) / "study", Path(name) / "output"
            fill(folder, members, arguments.cells)
            found = {command: measure(command, folder, output) for command in COMMANDS}
            results.append({"members": members, **found})
            print(results[-1], file=sys.stderr)
    bar = {"wall_seconds": MOST_SECONDS, "peak_megabytes": MOST_MEGABYTES}
    report("large_studies", {"cells": arguments.cells, "bar_at_100000": bar, "results": results})


if __name__ == "__main__":
    main()
