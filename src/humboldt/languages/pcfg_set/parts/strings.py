"""Distinct string arguments."""

from collections.abc import Iterable

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages.pcfg_set.parts.functions import Language

MOST_ROUNDS = 10_000  # of redrawing duplicates; a corpus of 100,000 pairs needs about four


class UniqueStrings:
    """Draws strings of letters uniformly, without duplicates.

    **Arguments:** `used` are strings that must not be drawn, letters separated by single spaces.
    """

    def __init__(self, language: Language, used: Iterable[str] = ()) -> None:
        self.num_letters = len(language.letters)
        keys = {letter: np.int32(i).tobytes() for i, letter in enumerate(language.letters)}
        self.used = {b"".join([keys[letter] for letter in string.split()]) for string in used}

    def draw(self, rng: np.random.Generator, lengths: np.ndarray) -> np.ndarray:
        """Returns new strings of these lengths, as concatenated letter numbers, shape `(lengths.sum(),)`."""
        lengths = np.asarray(lengths, np.int64)
        self._check(lengths)
        drawn = np.zeros((len(lengths), int(lengths.max(initial=0))), np.int32)
        missing = np.arange(len(lengths))
        for _ in range(MOST_ROUNDS):
            drawn[missing] = rng.integers(0, self.num_letters, (len(missing), drawn.shape[1]), np.int32)
            again = []
            for row in missing:
                key = drawn[row, : lengths[row]].tobytes()
                if key in self.used:
                    again.append(row)
                else:
                    self.used.add(key)
            missing = np.array(again, np.int64)
            if not len(missing):
                return drawn[np.arange(drawn.shape[1]) < lengths[:, None]]
        raise UsageError(
            f"{len(missing)} of {len(lengths)} string arguments could not be drawn: nearly all strings of their "
            "lengths are in the corpus already, and none may occur twice. Use more letters or longer strings."
        )

    def _check(self, lengths: np.ndarray) -> None:
        width = np.dtype(np.int32).itemsize
        for n, needed in zip(*np.unique(lengths, return_counts=True), strict=True):
            possible = self.num_letters ** int(n)
            taken = sum(len(key) == n * width for key in self.used) if possible < 2 * len(self.used) + needed else 0
            if needed + taken > possible:
                raise UsageError(
                    f"{needed:,} string arguments of {n} letters are needed, but with {self.num_letters} letters "
                    f"only {possible:,} can be made, and {taken:,} are in use. None may occur twice. Use more letters, "
                    "longer strings or a smaller corpus."
                )
