"""Missing duplicate (context-sensitive as a language)."""

from collections.abc import Sequence

import numpy as np

from humboldt.languages import Alphabet, tasks
from humboldt.languages.formal.continuations import Next
from humboldt.languages.recognition.base import AbstractRecognition


@tasks.register("recognition/missing_duplicate", version=1)
class MissingDuplicate(AbstractRecognition):
    """A string twice, with one `1` hidden.   01 0_ -> yes"""

    input_alphabet = Alphabet(("0", "1", "_"))
    examples = (("0 1 0 _", "yes"), ("_ 1", "yes"), ("_ 0", "no"), ("1 1", "no"), ("", "no"), ("_ _", "no"))

    def contains(self, symbols: Sequence[str]) -> bool:
        """Puts a `1` into the gap, and compares the halves."""
        if list(symbols).count("_") != 1 or len(symbols) % 2:
            return False
        filled = ["1" if symbol == "_" else symbol for symbol in symbols]
        return filled[: len(filled) // 2] == filled[len(filled) // 2 :]

    def valid_next(self, prefix: Sequence[str]) -> Next:
        """Returns every symbol but a second gap: any prefix with at most one gap begins some string."""
        gaps = list(prefix).count("_")
        return Next(frozenset(("0", "1", "_")[: 3 - gaps] if gaps < 2 else ()), self.contains(prefix))

    def draw(self, rng: np.random.Generator, count: int, longest: int) -> list[list[int]]:
        """Draws a string, sets a random place of it to `1`, and hides a random `1` of the doubled string."""
        strings = []
        for _ in range(count):
            half = rng.integers(0, 2, rng.integers(1, longest // 2 + 1))
            half[rng.integers(len(half))] = 1
            string = np.concatenate([half, half])
            string[rng.choice(np.flatnonzero(string == 1))] = 2
            strings.append(string.tolist())
        return strings
