"""The base class of the pseudo-languages: categories rewritten as terminals, positives, negatives, a recogniser."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages import AbstractTask, Alphabet, Drawn, ProblemKind
from humboldt.languages.syntax.parts.terminals import Terminals

CHECKED_STRINGS, CHECKED_RANGE = 60, (4, 30)


class AbstractPseudoLanguage(AbstractTask):
    """Strings of non-terminals (here: categories), each rewritten as one of its terminals, to be recognised.

    The symbol `NP3_17` is terminal 17 of the category `NP3`; its id is `category * terminals + terminal`, so integer
    division by `terminals` gives the category.

    **Arguments:**

    - `terminals`: number of terminals of each category, 1 to 100,000. The paper has 2, 5, 10, 100, 1000 and 5000.
    - `distribution`: `"zipf"` (the paper's) or `"uniform"`.
    - `zipf_exponent`: 0 to 10. The paper does not state its value.

    A subclass defines its `categories`, its lengths (`shortest`, `length_step`) and the three abstract methods. Lengths
    are always drawn uniformly from those of the language.
    """

    problem = ProblemKind.CLASSIFICATION
    output_alphabet = Alphabet(("ungrammatical", "grammatical"))  # so that a label is 1 for a string of the language
    chance = 0.5
    categories: ClassVar[tuple[str, ...]]
    shortest: ClassVar[int]
    length_step: ClassVar[int]
    negatives_change_length: ClassVar[bool] = False

    def __init__(self, *, terminals: int = 10, distribution: str = "zipf", zipf_exponent: float = 1.0) -> None:
        self._terminals = Terminals(terminals, distribution, zipf_exponent)
        self.terminals = self._terminals.count
        self.distribution = str(self._terminals.distribution)
        self.zipf_exponent = self._terminals.zipf_exponent

    @cached_property
    def input_alphabet(self) -> Alphabet:  # pyright: ignore[reportIncompatibleVariableOverride]
        """All symbols; an attribute of the instance, because they depend on `terminals`."""
        return Alphabet(tuple(f"{category}_{i}" for category in self.categories for i in range(self.terminals)))

    @property
    def symbol_categories(self) -> np.ndarray | None:
        """The category of every symbol id, shape `(len(input_alphabet),)`; `None` if categories do not help."""
        return np.repeat(np.arange(len(self.categories), dtype=np.int32), self.terminals)

    def accepts(self, symbols: Sequence[str]) -> bool:
        """Returns whether this string is in the language, computed in the slow and obvious way."""
        return self.accepts_categories([self._category(symbol, position) for position, symbol in enumerate(symbols)])

    def oracle(self, symbols: Sequence[str]) -> list[str]:
        """Returns `grammatical` or `ungrammatical`."""
        return ["grammatical" if self.accepts(symbols) else "ungrammatical"]

    def lengths_between(self, low: int, high: int) -> np.ndarray:
        """Returns the lengths from `low` to `high`, both included, at which the language has strings."""
        lengths = np.arange(low, high + 1)
        return lengths[(lengths >= self.shortest) & (lengths % self.length_step == 0)]

    def positives(self, rng: np.random.Generator, lengths: np.ndarray) -> np.ndarray:
        """Returns one string of the language for each length, shape `(count, longest)`, right-padded with id 0."""
        lengths = np.asarray(lengths)
        known = self.lengths_between(int(lengths.min(initial=0)), int(lengths.max(initial=0)))
        wrong = lengths[~np.isin(lengths, known)]
        if wrong.size:
            raise UsageError(
                f"The language has no string of length {wrong[0]}. Its lengths are {self._lengths_in_words()}."
            )
        inside = cells(lengths)
        categories = self.draw_categories(rng, lengths, inside)
        tokens = np.zeros(inside.shape, np.int32)
        tokens[inside] = self._rewrite(rng, categories[inside])
        return tokens

    def negatives(
        self, rng: np.random.Generator, tokens: np.ndarray, lengths: np.ndarray, within: tuple[int, int]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Makes one string outside the language from each positive, as in section 2.2.3 of the paper.

        **Arguments:**

        - `tokens`, `lengths`: positives, shapes `(count, time)` and `(count,)`.
        - `within`: the shortest and the longest length that a negative may have, both included.

        **Returns:** tokens and lengths, shapes `(count, longest)` and `(count,)`.
        """
        lengths = np.asarray(lengths)
        self.check_range(within)
        outside = lengths[(lengths < within[0]) | (lengths > within[1])]
        if outside.size:
            raise UsageError(
                f"A positive has length {outside[0]}, which is not within {within}. "
                "Negatives stay in the length range of their positives: give a range that holds both."
            )
        return self.spoil(rng, np.asarray(tokens), lengths, within)

    def drawn_examples(self, seed: int) -> Iterator[Drawn]:
        rng = np.random.default_rng(seed)
        first = max(CHECKED_RANGE[0], self.shortest)
        within = first, max(CHECKED_RANGE[1], first + 2 * self.length_step)
        lengths = rng.choice(self.lengths_between(*within), CHECKED_STRINGS)
        tokens = self.positives(rng, lengths)
        others, other_lengths = self.negatives(rng, tokens, lengths, within)
        for label, rows, ends in ((1, tokens, lengths), (0, others, other_lengths)):
            strings = [row[:end].tolist() for row, end in zip(rows, ends, strict=True)]
            yield Drawn(strings, [[label]] * len(strings))

    def check_range(self, within: tuple[int, int]) -> None:
        """Raises an error unless positives and negatives both exist in this range of lengths."""
        low, high = within
        if not 2 <= low <= high:
            raise UsageError(
                f"The length range {low} to {high} does not work: a negative needs a positive of at least two symbols, "
                "and the first length may not exceed the last. Use 2 <= first <= last; the paper has 4 to 30."
            )
        if not self.lengths_between(low, high).size:
            raise UsageError(
                f"The language has no string of a length from {low} to {high}. "
                f"Its lengths are {self._lengths_in_words()}: widen the range to hold one of them."
            )
        if self.negatives_change_length and low == high:
            raise UsageError(
                f"The length range {low} to {high} holds one length only, but a negative of this language has another "
                "length than its positive. Use a range of two lengths or more."
            )

    def _rewrite(self, rng: np.random.Generator, categories: np.ndarray) -> np.ndarray:
        """Returns one random symbol id for each category, shape `(count,)`."""
        return categories * self.terminals + self._terminals.draw(rng, len(categories))

    def _category(self, symbol: str, position: int) -> str:
        category, _, terminal = symbol.rpartition("_")
        # isdecimal alone would accept `NP_007` and non-ASCII digits, which are not in the alphabet.
        known = terminal.isdecimal() and terminal == str(int(terminal)) and int(terminal) < self.terminals
        if category not in self.categories or not known:
            raise UsageError(
                f"Symbol {symbol!r} at position {position} is not in the alphabet: a symbol is one of "
                f"{', '.join(self.categories)}, then `_`, then a number from 0 to {self.terminals - 1}, "
                f"as in `{self.categories[0]}_0`."
            )
        return category

    def _lengths_in_words(self) -> str:
        return f"{', '.join(str(self.shortest + i * self.length_step) for i in range(3))} and so on"

    @abstractmethod
    def accepts_categories(self, categories: list[str]) -> bool:
        """Returns whether a string of these categories is in the language."""

    @abstractmethod
    def draw_categories(self, rng: np.random.Generator, lengths: np.ndarray, inside: np.ndarray) -> np.ndarray:
        """Returns category numbers of grammatical strings, shape `(count, longest)`, arbitrary outside `inside`."""

    @abstractmethod
    def spoil(
        self, rng: np.random.Generator, tokens: np.ndarray, lengths: np.ndarray, within: tuple[int, int]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Implements `negatives`; the arguments are checked."""


def cells(lengths: np.ndarray) -> np.ndarray:
    """Returns a mask of the cells of a padded array that hold a symbol, shape `(count, longest)`."""
    return np.arange(lengths.max(initial=0)) < lengths[:, None]


def choose(rng: np.random.Generator, eligible: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Returns a mask of `counts[row]` random eligible cells of each row, every such set equally likely.

    Goes through the columns once and takes a cell with probability (still wanted) / (still to come), so no row is
    sorted. `eligible` and the result have shape `(count, time)`.
    """
    mask = np.zeros_like(eligible)
    wanted = counts.copy()
    to_come = eligible.sum(1)
    for column in range(eligible.shape[1]):
        candidate = eligible[:, column]
        taken = candidate & (rng.random(len(eligible)) * to_come < wanted)
        mask[:, column] = taken
        wanted -= taken
        to_come -= candidate
    return mask
