"""Even Pairs (regular)."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from humboldt.languages import Alphabet, Pairs, tasks
from humboldt.languages.chomsky.base import AbstractTransduction, Level


@tasks.register("chomsky/even_pairs", version=1)
class EvenPairs(AbstractTransduction):
    """Is the number of `ab` and `ba` together even?   aabba -> b (one ab, one ba: even)

    `b` means even, `a` means odd. It is even if and only if the first and the last symbol are equal.
    """

    level = Level.REGULAR
    input_alphabet = output_alphabet = Alphabet(("a", "b"))
    chance = 0.5
    examples = (("a a b b a", "b"), ("a b", "a"), ("b", "b"))

    def draw(self, rng: np.random.Generator, count: int, length: int) -> Pairs:
        strings = rng.integers(0, 2, (count, length), np.int32)
        return Pairs.full(strings, strings[:, :1] == strings[:, -1:])

    def oracle(self, symbols: Sequence[str]) -> list[str]:
        """Counts the pairs one by one."""
        pairs = sum(first != second for first, second in pairwise(symbols))
        return ["b" if pairs % 2 == 0 else "a"]
