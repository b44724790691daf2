"""Golden vectors: a plain file of inputs and targets for every task, to check other implementations against.

`python -m humboldt.suites.chomsky.conformance.golden` rewrites them. They have the task's examples, then
every input of the shortest lengths and a few longer ones, as the sampler draws them; the targets are the oracle's.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from humboldt.languages import tasks
from humboldt.languages.chomsky.base import AbstractTransduction

FOLDER = Path(__file__).parent / "vectors"
SEED = 2023
MOST_PER_LENGTH = 100  # lengths with more inputs are not listed in full
DRAWS = 20_000  # enough to draw each of 100 inputs
LONGER_LENGTHS = (10, 20, 41, 100)
PER_LONGER_LENGTH = 5


def inputs(task: AbstractTransduction) -> Iterator[list[str]]:
    """Yields the inputs without repetition: the task's examples, then drawn inputs, shortest first."""
    rng = np.random.default_rng(SEED)
    seen = {tuple(source.split(" ")) for source, _ in task.examples}
    yield from (source.split(" ") for source, _ in task.examples)

    def new(count: int, length: int) -> list[tuple[str, ...]]:
        rows = np.unique(task.sample(rng, count, length).inputs, axis=0)
        return sorted({tuple(task.input_alphabet.decode(row)) for row in rows} - seen)

    length = task.shortest
    while len(short := new(DRAWS, length)) <= MOST_PER_LENGTH:
        seen.update(short)
        yield from map(list, short)
        length += 1
    for longer in LONGER_LENGTHS:
        yield from map(list, new(PER_LONGER_LENGTH, longer))


def lines(name: str) -> list[str]:
    """Returns the lines of the file for the task `name`."""
    task = tasks.get(name)()
    assert isinstance(task, AbstractTransduction)
    records = (
        {"task": name, "input": " ".join(symbols), "target": " ".join(task.oracle(symbols))} for symbols in inputs(task)
    )
    return [json.dumps(record) for record in records]


def path(name: str) -> Path:
    """Returns the path of the file for the task `name`."""
    return FOLDER / f"{name.removeprefix('chomsky/')}.jsonl"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each in tasks.names("chomsky/"):
        path(each).write_text("\n".join(lines(each)) + "\n", encoding="utf-8")
