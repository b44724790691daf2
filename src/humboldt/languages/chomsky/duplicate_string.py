"""Duplicate String (context-sensitive)."""

from collections.abc import Sequence

import numpy as np

from humboldt.languages import Alphabet, Pairs, tasks
from humboldt.languages.chomsky._base import AbstractTransduction, Level


@tasks.register("chomsky/duplicate_string", version=1)
class DuplicateString(AbstractTransduction):
    """A string, twice.   abaab -> abaababaab"""

    level = Level.CONTEXT_SENSITIVE
    input_alphabet = output_alphabet = Alphabet(("a", "b"))
    chance = 0.5
    examples = (("a b a a b", "a b a a b a b a a b"), ("b", "b b"))

    def _sample(self, rng: np.random.Generator, count: int, length: int) -> Pairs:
        strings = rng.integers(0, 2, (count, length), np.int32)
        return Pairs.full(strings, np.tile(strings, 2))

    def oracle(self, symbols: Sequence[str]) -> list[str]:
        """Reads the string aloud, and once more."""
        said = []
        for _ in range(2):
            for symbol in symbols:
                said.append(symbol)
        return said
