"""What the tests of these tasks share."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from humboldt.languages import tasks
from humboldt.languages.chomsky.base import AbstractTransduction

Strings = tuple[str, str]


def make(name: str, **options: Any) -> AbstractTransduction:
    task = tasks.get(f"chomsky/{name}")(**options)
    assert isinstance(task, AbstractTransduction)
    return task


def drawn(task: AbstractTransduction, count: int, length: int, seed: int = 0) -> list[Strings]:
    """Pairs as text, symbols separated by spaces."""
    pairs = task.sample(np.random.default_rng(seed), count, length)
    return [(" ".join(s), " ".join(t)) for s, t in pairs.symbols(task.input_alphabet, task.output_alphabet)]


def oracle(task: AbstractTransduction, text: str) -> str:
    return " ".join(task.oracle(text.split(" ")))


def every_string(symbols: str, length: int) -> Iterator[str]:
    """All strings of one-letter symbols, as text with spaces."""
    return (" ".join(letters) for letters in product(symbols, repeat=length))


def assert_frequency(hits: int, count: int, expected: float) -> None:
    """Within five standard deviations, so that only a wrong distribution fails."""
    assert abs(hits / count - expected) < 5 * (expected * (1 - expected) / count) ** 0.5
