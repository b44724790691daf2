"""Blocks of letters whose lengths depend on each other: a^n b^n and its relatives."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from humboldt.languages.bliss.base import AbstractLanguage, Measure
from humboldt.languages.bliss.parts.automaton import CounterAutomaton
from humboldt.languages.bliss.parts.corpus import PRIOR, Corpus
from humboldt.languages.bliss.parts.test_set import BlockTestSet, check_request


class AbstractBlocks(AbstractLanguage):
    """One block for each of `letters`; the first `free` may have any length from 1, with probability (1 - p)^(n-1) p.

    Strings are deterministic from the first letter after the free blocks.
    """

    measure = Measure.DETERMINISTIC
    letters: ClassVar[str]
    free: ClassVar[int] = 1

    @abstractmethod
    def test_lengths(self, after: int, count: int) -> np.ndarray:
        """Returns the lengths of free blocks, `(count, free)`, of test strings longer than `after`."""

    def distributions(self, p: float = PRIOR) -> np.ndarray:
        """Returns the table of next-symbol probabilities; see `CounterAutomaton` for the kinds."""
        letters = len(self.letters)
        table = np.zeros((2 + letters, 1 + letters))
        table[0, 1] = 1
        for block in range(1, self.free + 1):
            table[block, block : block + 2] = 1 - p, p
        for block in range(self.free + 1, letters + 1):
            table[block, block] = 1
        table[-1, 0] = 1
        return table

    def size(self, string: Sequence[str]) -> int:
        """Returns the total length of the free blocks: n, or n + m."""
        return sum(string.count(letter) for letter in self.letters[: self.free])

    def expected_length(self, p: float = PRIOR) -> float:
        """Returns the mean length: a free block has 1/p letters on average, and the others are linear in them."""
        return float(self._ends(np.full((1, self.free), 1 / p))[0, -1])

    def spell(self, *free: int) -> str:
        """Returns the string with free blocks of these lengths."""
        return "".join(
            letter * int(run)
            for letter, run in zip(self.letters, np.diff(self._ends(np.array([free]))[0], prepend=0), strict=True)
        )

    def test_set(self, *, after: Corpus | int, count: int) -> BlockTestSet:
        """Returns strings whose free blocks are all longer than any free block of the corpus."""
        check_request(after, count)
        p = PRIOR
        if isinstance(after, Corpus):
            p = after.p
            after = max(string.count(letter) for string in after.counts for letter in self.letters[: self.free])
        lengths = self.test_lengths(after, count)
        return BlockTestSet(self, self.letters, lengths, self._ends(lengths), p)

    def _ends(self, free: np.ndarray) -> np.ndarray:
        """Returns the end of each block, shape `(count, blocks)`, given the free lengths, `(count, free)`."""
        assert isinstance(self.automaton, CounterAutomaton)
        return np.cumsum(np.concatenate([free.T, self.automaton.determined(free.T)]), 0).T

    def draw(self, rng: np.random.RandomState, count: int, p: float) -> list[str]:
        if not self.rules:
            return [self.spell(n) for n in rng.geometric(p, size=count)]
        grammar = self.grammar(p)
        return ["".join(grammar.sample(rng)) for _ in range(count)]


class AbstractEqualBlocks(AbstractBlocks):
    """All blocks have the same length, n. Test strings have increasing n."""

    def test_lengths(self, after: int, count: int) -> np.ndarray:
        return np.arange(after + 1, after + 1 + count)[:, None]


def equal_blocks(letters: int) -> CounterAutomaton:
    """Returns the automaton of `letters` blocks of equal length."""
    return CounterAutomaton([[1]] * (letters - 1))
