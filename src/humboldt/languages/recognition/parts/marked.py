"""The base class of languages whose strings are w, a mark, and a function of w."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from humboldt.languages.formal.continuations import Next
from humboldt.languages.recognition.base import AbstractRecognition


class AbstractMarked(AbstractRecognition):
    """Strings w # f(w), where w is any string of the other symbols. The mark is the last symbol of the alphabet."""

    mark: ClassVar[str] = "#"

    @abstractmethod
    def image(self, word: list[str]) -> list[str]:
        """Returns f(w), which is as long as w."""

    def contains(self, symbols: Sequence[str]) -> bool:
        """Applies f to what is before the first mark, and compares."""
        symbols = list(symbols)
        if symbols.count(self.mark) != 1:
            return False
        place = symbols.index(self.mark)
        return symbols[place + 1 :] == self.image(symbols[:place])

    def valid_next(self, prefix: Sequence[str]) -> Next:
        """Returns every symbol before the mark; after it, the next symbol of f(w)."""
        symbols = list(prefix)
        if self.mark not in symbols:
            return Next(frozenset(self.input_alphabet.symbols), False)
        place = symbols.index(self.mark)
        written, wanted = symbols[place + 1 :], self.image(symbols[:place])
        fits = written == wanted[: len(written)]
        return Next(frozenset(wanted[len(written) : len(written) + 1] if fits else ()), fits and written == wanted)

    def draw(self, rng: np.random.Generator, count: int, longest: int) -> list[list[int]]:
        symbols = self.input_alphabet.symbols
        strings = []
        for _ in range(count):
            ids = rng.integers(0, len(symbols) - 1, rng.integers(0, (longest - 1) // 2 + 1))
            word = [symbols[i] for i in ids]
            strings.append(self.input_alphabet.encode([*word, self.mark, *self.image(word)]).tolist())
        return strings
