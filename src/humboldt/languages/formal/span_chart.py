"""Sums over all ways to derive every part of a string, by columns, compiled.

`left[A, i, j]` and `right[A, j, i]` hold the same number: the weight of all derivations of symbols i to j from A, once
for reading along rows and once along columns.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from humboldt.compiled import compiled
from humboldt.errors import UsageError

MOST_NUMBERS = 60_000_000  # of both tables together, half a gigabyte


class Binary(NamedTuple):
    """Rules A -> B C as arrays, one entry for each rule."""

    heads: np.ndarray
    firsts: np.ndarray
    seconds: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, rules: list[tuple[int, int, int, float]]) -> "Binary":
        """Builds the arrays from rules `(A, B, C, weight)`."""
        table = np.array(rules, float).reshape(-1, 4)
        heads, firsts, seconds = (np.ascontiguousarray(table[:, column]).astype(np.int64) for column in range(3))
        return cls(heads, firsts, seconds, np.ascontiguousarray(table[:, 3]))


class Star(NamedTuple):
    """How nonterminals derive one another alone: from `starts[B]` on, each A that derives B, and with what weight."""

    starts: np.ndarray
    heads: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, entries: list[list[tuple[int, float]]]) -> "Star":
        """Builds the arrays from a list of `(A, weight)` for each B."""
        starts = np.concatenate([[0], np.cumsum([len(pairs) for pairs in entries])]).astype(np.int64)
        heads = np.array([head for pairs in entries for head, _ in pairs], np.int64)
        return cls(starts, heads, np.array([float(weight) for pairs in entries for _, weight in pairs]))


@dataclass
class SpanChart:
    """Tables that grow by one symbol at a time; columns beyond the one being filled are arbitrary."""

    size: int
    binary: Binary
    star: Star

    def __post_init__(self) -> None:
        self._allocate(8)

    def fill(self, first: int, lexical: np.ndarray, expected: np.ndarray) -> None:
        """Fills columns from `first` on, given those before it.

        **Arguments:**

        - `lexical`: weights of the last symbol of each column from each nonterminal, shape `(columns, size)`.
        - `expected`: which nonterminals matter at each position, shape `(first + columns - 1 or more, size)`.
        """
        last = first + len(lexical) - 1
        if last > self.longest:
            self._allocate(max(last, 2 * self.longest))
        _fill(self.left, self.right, *self.binary, *self.star, lexical, expected, first)

    def _allocate(self, longest: int) -> None:
        numbers = 2 * self.size * (longest + 1) ** 2
        if numbers > MOST_NUMBERS:
            raise UsageError(
                f"A string of {longest} symbols under a grammar of {self.size} nonterminals (in binary form) needs "
                f"{numbers:,} numbers; the limit is {MOST_NUMBERS:,}. Use shorter strings or a smaller grammar."
            )
        before = getattr(self, "left", None), getattr(self, "right", None)
        self.longest = longest
        self.left = np.zeros((self.size, longest + 1, longest + 1))
        self.right = np.zeros_like(self.left)
        for old, new in zip(before, (self.left, self.right), strict=True):
            if old is not None:
                new[:, : old.shape[1], : old.shape[2]] = old


@compiled
def _fill(
    left, right, heads, firsts, seconds, weights, star_starts, star_heads, star_weights, lexical, expected, begin
):
    size = left.shape[0]
    ways = np.zeros(size)
    for column in range(begin, begin + len(lexical)):
        for i in range(column - 1, -1, -1):
            ways[:] = 0.0
            if i == column - 1:
                ways[:] = lexical[column - begin]
            for rule in range(len(heads)):
                head = heads[rule]
                if expected[i, head] > 0:
                    total = 0.0
                    first, second = left[firsts[rule], i], right[seconds[rule], column]
                    for m in range(i + 1, column):
                        total += first[m] * second[m]
                    ways[head] += weights[rule] * total
            left[:, i, column] = 0.0
            for symbol in range(size):
                if ways[symbol] > 0:
                    for entry in range(star_starts[symbol], star_starts[symbol + 1]):
                        left[star_heads[entry], i, column] += star_weights[entry] * ways[symbol]
            right[:, column, i] = left[:, i, column]
