"""Test sets, in a compact form that does not hold the symbols of all strings.

A test set of `a^n b^n` with 10,000 strings has 10^8 symbols. Evaluation needs less: the prefixes that strings share,
and the symbol of a string at a position. A `Trie` provides both.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from humboldt.compiled import compiled
from humboldt.errors import UsageError
from humboldt.languages.bliss.parts.corpus import records

if TYPE_CHECKING:
    from humboldt.languages.bliss.base import AbstractLanguage


@dataclass(frozen=True, eq=False)
class Trie:
    """Strings in lexicographic order, so that those with a common prefix are neighbours.

    - `index`: shape `(count,)`, the place of each string in its test set.
    - `lengths`: shape `(count,)`.
    - `shared`: shape `(count,)`, the length of the prefix shared with the previous string; -1 for the first.
    - `symbols(rows, position)`: ids of the symbols of some strings at one position, `#` (0) after their end.
    """

    index: np.ndarray
    lengths: np.ndarray
    shared: np.ndarray
    symbols: Callable[[np.ndarray, int], np.ndarray]


class AbstractTestSet(ABC):
    """Strings in test order. Behaves as a sequence of `str`; strings are built on access."""

    language: "AbstractLanguage"
    p: float

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self, index: int) -> str: ...

    @property
    @abstractmethod
    def lengths(self) -> np.ndarray:
        """The number of symbols of each string, shape `(count,)`."""

    @property
    @abstractmethod
    def deterministic_steps(self) -> np.ndarray:
        """The number of deterministic steps of each string, shape `(count,)`."""

    @abstractmethod
    def trie(self, first: int, last: int) -> Trie:
        """Returns the trie of the strings from index `first` up to, not including, `last`."""

    def __iter__(self) -> Iterator[str]:
        return (self[index] for index in range(len(self)))

    def records(self) -> Iterator[dict[str, str]]:
        """Yields one `{"input": "# a b", "target": "a b #"}` for each string."""
        return records(self.language, self)


class BlockTestSet(AbstractTestSet):
    """Blocks of letters. `free`: lengths of free blocks, `(count, free)`; `ends`: ends of blocks, `(count, blocks)`."""

    def __init__(
        self, language: "AbstractLanguage", letters: str, free: np.ndarray, ends: np.ndarray, p: float
    ) -> None:
        self.language = language
        self.p = p
        self._letters = letters
        self._free = free
        self._ends = ends

    def __len__(self) -> int:
        return len(self._free)

    def __getitem__(self, index: int) -> str:
        runs = np.diff(self._ends[index], prepend=0)
        return "".join(letter * int(run) for letter, run in zip(self._letters, runs, strict=True))

    @property
    def lengths(self) -> np.ndarray:
        """The end of each last block, shape `(count,)`."""
        return self._ends[:, -1]

    @property
    def deterministic_steps(self) -> np.ndarray:
        """The number of steps from the first determined letter to the end, shape `(count,)`."""
        return self._ends[:, -1] - self._free.sum(1)

    def trie(self, first: int, last: int) -> Trie:
        """Builds the trie: strings first differ after the shorter of their first unequal free blocks."""
        free, ends = self._free[first:last], self._ends[first:last]
        order = np.lexsort(-free.T[::-1])  # a longer block comes first: the next letter is the larger symbol
        free, ends = free[order], np.ascontiguousarray(ends[order].T)
        shared = np.full(len(order), -1)
        unequal = (free[1:] != free[:-1]).argmax(1)
        both = np.minimum(free[1:], free[:-1])
        shared[1:] = np.where(np.arange(free.shape[1]) <= unequal[:, None], both, 0).sum(1)
        return Trie(first + order, ends[-1], shared, lambda rows, position: _block_symbols(ends, rows, position))


@compiled
def _block_symbols(ends: np.ndarray, rows: np.ndarray, position: int) -> np.ndarray:
    symbols = np.zeros(len(rows), np.int64)
    for i in range(len(rows)):
        for block in range(len(ends)):
            if position < ends[block, rows[i]]:
                symbols[i] = block + 1
                break
    return symbols


class WrittenTestSet(AbstractTestSet):
    """Strings of an iterator, which is consumed as far as needed."""

    def __init__(self, language: "AbstractLanguage", strings: Iterator[str], count: int, p: float) -> None:
        self.language = language
        self.p = p
        self._count = count
        self._source = strings
        self._strings: list[str] = []

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> str:
        if not -self._count <= index < self._count:
            raise IndexError(index)
        index %= self._count
        while len(self._strings) <= index:
            self._strings.append(next(self._source))
        return self._strings[index]

    @property
    def lengths(self) -> np.ndarray:
        """The length of each string, shape `(count,)`. Builds all strings."""
        return np.array([len(string) for string in self])

    @property
    def deterministic_steps(self) -> np.ndarray:
        """The deterministic steps of each string, shape `(count,)`; zeros if the language has no such steps."""
        if not self.language.deterministic_kinds().any():
            return np.zeros(self._count, np.int64)
        return np.array([self.language.deterministic_mask(string).sum() for string in self])

    def trie(self, first: int, last: int) -> Trie:
        """Builds the trie by sorting the strings as rows of ids, padded with `#`, which is the smallest."""
        strings = [self[index] for index in range(first, last)]
        lengths = np.array([len(string) for string in strings])
        table = np.zeros((len(strings), lengths.max() + 1), np.uint8)
        for row, string in enumerate(strings):
            table[row, : len(string)] = self.language.input_alphabet.encode(string)
        order = np.lexsort(table.T[::-1])
        table = table[order]
        shared = np.full(len(order), -1)
        shared[1:] = (table[1:] != table[:-1]).argmax(1)
        return Trie(
            first + order, lengths[order], shared, lambda rows, position: table[rows, position].astype(np.int64)
        )


def check_request(after: object, count: int) -> None:
    """Raises an error for a test set that is empty or begins below size 0."""
    if count < 1:
        raise UsageError(f"A test set of {count} strings is empty. Ask for a count of 1 or more.")
    if isinstance(after, int) and after < 0:
        raise UsageError(f"There are no strings of size {after}. Use after=0 to begin with the shortest string.")


def square(first: int, count: int) -> np.ndarray:
    """Returns the `count` smallest pairs, by sum, of the smallest sufficient square of numbers from `first` on.

    >>> square(21, 4).tolist()
    [[21, 21], [21, 22], [22, 21], [22, 22]]
    """
    side = math.isqrt(count - 1) + 1
    values = np.arange(first, first + side)
    pairs = np.stack(np.meshgrid(values, values, indexing="ij"), -1).reshape(-1, 2)
    return pairs[np.argsort(pairs.sum(1), kind="stable")[:count]]
