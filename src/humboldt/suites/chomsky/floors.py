"""The measured floor of each task: the best accuracy from length and position alone. `floors.csv` has the values.

`python -m humboldt.suites.chomsky.floors > src/humboldt/suites/chomsky/floors.csv` makes the file again.
"""

import csv
import sys
from collections.abc import Mapping
from functools import cache
from importlib import resources

import numpy as np

from humboldt.languages import tasks
from humboldt.languages.chomsky.base import AbstractTransduction
from humboldt.measures.floors import Floor, floor
from humboldt.suites.chomsky.protocol import TASKS, LengthGeneralisation

FITTED, SCORED, SEED = 2048, 512, 20  # strings of each length; the seed is that of no test set
COLUMNS = ("task", "version", "first_length", "last_length", "floor", "standard_error")


def measure(task: AbstractTransduction, *, fitted: int = FITTED, scored: int = SCORED, every: int = 1) -> Floor:
    """Measures the floor of a task for the paper's test lengths, or for each `every`-th of them."""

    def draw(rng: np.random.Generator, count: int, length: int) -> tuple[np.ndarray, np.ndarray]:
        pairs = task.sample(rng, count, length)
        return pairs.targets, pairs.target_lengths

    lengths = LengthGeneralisation().scored_lengths()[::every]
    return floor(draw, lengths, fitted=fitted, scored=scored, seed=SEED)


@cache
def measured() -> Mapping[tuple[str, int | str], Floor]:
    """Returns the values of `floors.csv` by task and its version."""
    text = resources.files("humboldt.suites.chomsky").joinpath("floors.csv").read_text(encoding="utf-8")
    return {
        (row["task"], int(row["version"])): Floor(float(row["floor"]), float(row["standard_error"]))
        for row in csv.DictReader(text.splitlines())
    }


def floor_of(task: str, protocol: LengthGeneralisation) -> float | None:
    """Returns the floor of a task from 0 to 1; `None` if it was not measured for its version or these test lengths."""
    if protocol.test_lengths != LengthGeneralisation().test_lengths or protocol.pooled_accuracy:
        return None
    known = measured().get((task, tasks.entry(f"chomsky/{task}").version))
    return known and known.score


def main() -> None:
    """Measures all floors and prints them as CSV, which takes some minutes of processor time."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    first, last = LengthGeneralisation().test_lengths
    for name in TASKS:
        version = tasks.entry(f"chomsky/{name}").version
        value = measure(tasks.get(f"chomsky/{name}")())  # pyright: ignore[reportArgumentType]
        writer.writerow((name, version, first, last, f"{value.score:.4f}", f"{value.standard_error:.4f}"))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
