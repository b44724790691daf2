"""A language from a user's file as a task of `syntax`: is a string in the language?

Its symbols are the categories, each rewritten as one of its terminals; with one terminal they are the symbols
themselves. Nothing in a file says which symbols agree, so negatives are not made as the paper's are: half are uniform
strings, half are positives with a geometric number of edits, and those in the language are drawn again.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages import Alphabet
from humboldt.languages.formal.language import ContextFreeLanguage, RegularLanguage
from humboldt.languages.syntax.base import AbstractPseudoLanguage

TRIES = 200  # draws of one negative
EDITS = 0.5  # the number of edits is geometric with this parameter
MOST_CATEGORIES = 32  # that the classifiers of the shortcut audit are given
LONGEST = 1_000


def syntax_task(language: RegularLanguage | ContextFreeLanguage) -> type["OwnPseudoLanguage"]:
    """Makes the task of a language; raises a usage error if it is empty."""
    if not language.alphabet:
        raise UsageError(f"The language of {language.name} has no symbols: there is nothing to tell apart.")
    for symbol in language.alphabet:
        if symbol.rpartition("_")[2].isdecimal() and symbol.rpartition("_")[0] in language.alphabet:
            raise UsageError(f"{language.name}: {symbol!r} is also the name of a terminal in this suite: rename it.")
    body = {
        "__doc__": f"The language of {language.name}.",
        "__module__": __name__,
        "categories": language.alphabet,
        "examples": (),
        "language": language,
        "identity": language.identity(weights=False),
    }
    return type("OwnPseudoLanguage", (OwnPseudoLanguage,), body)


class OwnPseudoLanguage(AbstractPseudoLanguage):
    """The language of a file. Positives are drawn uniformly from the strings of a length."""

    shortest = 0
    length_step = 1
    language: ClassVar[RegularLanguage | ContextFreeLanguage]
    identity: ClassVar[dict[str, Any]]

    @cached_property
    def input_alphabet(self) -> Alphabet:  # pyright: ignore[reportIncompatibleVariableOverride]
        """All symbols: those of the file if there is one terminal."""
        return Alphabet(self.categories) if self.terminals == 1 else super().input_alphabet

    @property
    def symbol_categories(self) -> np.ndarray | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The category of every symbol id; `None` if there are too many for the shortcut audit."""
        return super().symbol_categories if len(self.categories) <= MOST_CATEGORIES else None

    def lengths_between(self, low: int, high: int) -> np.ndarray:
        if high > LONGEST:
            raise UsageError(f"Length {high} is above {LONGEST:,}, the limit for a language from a file: use less.")
        return np.array([length for length in range(low, high + 1) if self._has(length)], np.int64)

    def accepts_categories(self, categories: list[str]) -> bool:
        return self.language.accepts(categories)

    def draw_categories(self, rng: np.random.Generator, lengths: np.ndarray, inside: np.ndarray) -> np.ndarray:
        numbers = {category: number for number, category in enumerate(self.categories)}
        drawn = np.zeros(inside.shape, np.int64)
        for length in np.unique(lengths).tolist():
            rows = np.flatnonzero(lengths == length)
            for row, string in zip(rows, self.language.uniform(rng, count=len(rows), length=length), strict=True):
                drawn[row, :length] = [numbers[category] for category in string]
        return drawn

    def spoil(
        self, rng: np.random.Generator, tokens: np.ndarray, lengths: np.ndarray, within: tuple[int, int]
    ) -> tuple[np.ndarray, np.ndarray]:
        strings = [
            self._outside(rng, row[:length].tolist(), within)
            for row, length in zip(tokens, lengths.tolist(), strict=True)
        ]
        new_lengths = np.array([len(string) for string in strings], lengths.dtype)
        spoiled = np.zeros((len(strings), int(new_lengths.max(initial=0))), np.int32)
        for row, string in zip(spoiled, strings, strict=True):
            row[: len(string)] = string
        return spoiled, new_lengths

    def _outside(self, rng: np.random.Generator, positive: list[int], within: tuple[int, int]) -> list[int]:
        for _ in range(TRIES):
            if rng.random() < 0.5:
                proposal = self._rewrite(rng, rng.integers(0, len(self.categories), len(positive))).tolist()
            else:
                proposal = self._edited(rng, positive)
            categories = [self.categories[token // self.terminals] for token in proposal]
            if within[0] <= len(proposal) <= within[1] and not self.language.accepts(categories):
                return proposal
        raise UsageError(
            f"{TRIES} strings in a row were all in the language of {self.language.name}: it leaves too few outside for "
            "negatives."
        )

    def _edited(self, rng: np.random.Generator, positive: list[int]) -> list[int]:
        string = list(positive)
        for _ in range(int(rng.geometric(EDITS))):
            kind = int(rng.integers(3)) if string else 0
            new = int(self._rewrite(rng, rng.integers(0, len(self.categories), 1))[0])
            place = int(rng.integers(len(string) + (kind == 0)))
            if kind == 0:
                string.insert(place, new)
            elif kind == 1:
                string[place] = new
            else:
                del string[place]
        return string

    def _has(self, length: int) -> bool:
        if isinstance(self.language, RegularLanguage):
            return self.language.count(length) > 0
        return self.language.derivations.count(length) > 0

    def _category(self, symbol: str, position: int) -> str:
        if self.terminals == 1:
            self.input_alphabet.encode([symbol])
            return symbol
        return super()._category(symbol, position)

    def _lengths_in_words(self) -> str:
        lengths: Sequence[int] = [length for length in range(100) if self._has(length)][:3]
        return f"{', '.join(map(str, lengths)) or 'none'} and so on"
