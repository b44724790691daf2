"""Unmarked reversal: palindromes of even length (nondeterministic context-free)."""

from collections.abc import Sequence

import numpy as np

from humboldt.languages import Alphabet, tasks
from humboldt.languages.formal.continuations import Next
from humboldt.languages.recognition.base import AbstractRecognition


@tasks.register("recognition/unmarked_reversal", version=1)
class UnmarkedReversal(AbstractRecognition):
    """A string and the same backwards.   0110 -> yes"""

    input_alphabet = Alphabet(("0", "1"))
    examples = (("0 1 1 0", "yes"), ("0 1 0", "no"), ("", "yes"), ("0 1", "no"))

    def contains(self, symbols: Sequence[str]) -> bool:
        """Compares the string with itself backwards."""
        return len(symbols) % 2 == 0 and list(symbols) == list(symbols)[::-1]

    def valid_next(self, prefix: Sequence[str]) -> Next:
        """Returns every symbol: any of them can follow any prefix."""
        return Next(frozenset(self.input_alphabet.symbols), self.contains(prefix))

    def draw(self, rng: np.random.Generator, count: int, longest: int) -> list[list[int]]:
        words = [rng.integers(0, 2, rng.integers(0, longest // 2 + 1)).tolist() for _ in range(count)]
        return [word + word[::-1] for word in words]
