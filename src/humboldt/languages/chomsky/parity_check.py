"""Parity Check (regular)."""

from collections.abc import Sequence

import numpy as np

from humboldt.languages import Alphabet, Pairs, tasks
from humboldt.languages.chomsky.base import AbstractTransduction, Level


@tasks.register("chomsky/parity_check", version=1)
class ParityCheck(AbstractTransduction):
    """Is the number of `b`s even?   aaabba -> b (two: even)

    `b` means even, `a` means odd.
    """

    level = Level.REGULAR
    input_alphabet = output_alphabet = Alphabet(("a", "b"))
    chance = 0.5
    examples = (("a a a b b a", "b"), ("a b", "a"), ("a", "b"))

    def draw(self, rng: np.random.Generator, count: int, length: int) -> Pairs:
        strings = rng.integers(0, 2, (count, length), np.int32)
        return Pairs.full(strings, 1 - strings.sum(1, keepdims=True) % 2)

    def oracle(self, symbols: Sequence[str]) -> list[str]:
        """Flips a bit at every `b`."""
        even = True
        for symbol in symbols:
            if symbol == "b":
                even = not even
        return ["b" if even else "a"]
