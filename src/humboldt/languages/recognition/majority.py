"""Majority (counter language)."""

from collections.abc import Sequence

import numpy as np

from humboldt.languages import Alphabet, tasks
from humboldt.languages.formal.continuations import Next
from humboldt.languages.recognition.base import AbstractRecognition


@tasks.register("recognition/majority", version=1)
class Majority(AbstractRecognition):
    """Are there more `1`s than `0`s?   101 -> yes"""

    input_alphabet = Alphabet(("0", "1"))
    examples = (("1 0 1", "yes"), ("1 0", "no"), ("", "no"), ("1", "yes"))

    def contains(self, symbols: Sequence[str]) -> bool:
        """Counts the `1`s and the `0`s."""
        return list(symbols).count("1") > list(symbols).count("0")

    def valid_next(self, prefix: Sequence[str]) -> Next:
        """Returns every symbol: any of them can follow any prefix."""
        return Next(frozenset(self.input_alphabet.symbols), self.contains(prefix))

    def draw(self, rng: np.random.Generator, count: int, longest: int) -> list[list[int]]:
        """Draws a length, a number of `1`s, and an order."""
        strings = []
        for _ in range(count):
            length = int(rng.integers(1, longest + 1))
            ones = int(rng.integers(length // 2 + 1, length + 1))
            strings.append(rng.permutation([1] * ones + [0] * (length - ones)).tolist())
        return strings
