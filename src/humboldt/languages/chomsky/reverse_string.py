"""Reverse String (deterministic context-free)."""

from collections.abc import Sequence

import numpy as np

from humboldt.languages import Alphabet, Pairs, tasks
from humboldt.languages.chomsky._base import AbstractTransduction, Level


@tasks.register("chomsky/reverse_string", version=1)
class ReverseString(AbstractTransduction):
    """A string from its end to its beginning.   aabba -> abbaa"""

    level = Level.DETERMINISTIC_CONTEXT_FREE
    input_alphabet = output_alphabet = Alphabet(("a", "b"))
    chance = 0.5
    examples = (("a a b b a", "a b b a a"), ("a b", "b a"), ("b", "b"))

    def _sample(self, rng: np.random.Generator, count: int, length: int) -> Pairs:
        strings = rng.integers(0, 2, (count, length), np.int32)
        return Pairs.full(strings, strings[:, ::-1])

    def oracle(self, symbols: Sequence[str]) -> list[str]:
        """Pushes every symbol on a stack, then pops them."""
        stack = list(symbols)
        return [stack.pop() for _ in symbols]
