"""Automata that read many strings at once, symbol by symbol, and compute the symbols that can follow.

All six languages share one form: the distribution of the next symbol depends only on the *kind* of the prefix, of which
a language has a few (after `#`; among the `a`s; among the `b`s; at the end). An automaton holds one state per row and
computes its kind. Symbols are ids of the language's alphabet, and `#` is 0. A row must only be given symbols that can
follow, which callers check against the table of kinds.
"""

from abc import ABC, abstractmethod

import numpy as np

from humboldt.compiled import compiled

State = tuple[np.ndarray, ...]


class AbstractAutomaton(ABC):
    """Automata in rows. Arrays of a state have the rows as last axis; `advance` may overwrite its argument."""

    @abstractmethod
    def init(self, count: int) -> State:
        """Returns the state of `count` rows that have read only `#`."""

    @abstractmethod
    def advance(self, state: State, symbols: np.ndarray) -> State:
        """Returns the state after one more symbol in each row; `symbols` has shape `(count,)`."""

    @abstractmethod
    def kinds(self, state: State) -> np.ndarray:
        """Returns the kind of each row's prefix, shape `(count,)`."""

    @abstractmethod
    def scan(self, symbols: np.ndarray) -> np.ndarray:
        """Returns the kind of each prefix of one string, shape `(len(symbols) + 1,)`.

        Here symbols may be wrong, though not `#`: kinds after the first wrong symbol are arbitrary.
        """

    def take(self, state: State, rows: np.ndarray) -> State:
        """Returns the state of the given rows, in that order; a row may occur more than once."""
        return tuple(np.take(array, rows, -1) for array in state)


class CounterAutomaton(AbstractAutomaton):
    """Non-empty blocks of letters: the first `free` have any length, which determines the lengths of the others.

    `needs[i][j]` is the number of letters that the determined block i has for each letter of the free block j.

    Kinds: 0 before the first letter; 1 to `free` inside a free block; then one for each determined letter that must
    follow; then one where only the end can follow.
    """

    def __init__(self, needs: list[list[int]]) -> None:
        self.needs = np.array(needs)
        self.free = self.needs.shape[1]
        self.blocks = self.free + len(needs)

    def determined(self, free: np.ndarray) -> np.ndarray:
        """Returns the lengths of determined blocks, `(determined, count)`, given the free ones, `(free, count)`."""
        return self.needs @ free

    def init(self, count: int) -> State:
        """Returns counts of zero."""
        return (np.zeros((self.blocks, count), np.int32),)

    def advance(self, state: State, symbols: np.ndarray) -> State:
        """Counts each letter; letter number i has id i + 1."""
        _count_letters(state[0], symbols)
        return state

    def kinds(self, state: State) -> np.ndarray:
        """Returns the kinds, by comparing the lengths of the determined blocks with those required."""
        return _block_kinds(state[0], self.needs)

    def scan(self, symbols: np.ndarray) -> np.ndarray:
        """Returns the kinds of all prefixes at once, from running counts of the letters."""
        counts = np.zeros((self.blocks, len(symbols) + 1), np.int32)
        counts[symbols - 1, np.arange(1, len(symbols) + 1)] = 1
        return self.kinds((np.cumsum(counts, 1, np.int32),))


@compiled
def _count_letters(counts: np.ndarray, symbols: np.ndarray) -> None:
    for row in range(len(symbols)):
        counts[symbols[row] - 1, row] += 1


@compiled
def _block_kinds(counts: np.ndarray, needs: np.ndarray) -> np.ndarray:
    blocks, rows = counts.shape
    free = needs.shape[1]
    kinds = np.empty(rows, np.int64)
    for row in range(rows):
        begun, full = 0, 0
        for block in range(blocks):
            begun += counts[block, row] > 0
        for i in range(blocks - free):
            need = 0
            for j in range(free):
                need += needs[i, j] * counts[j, row]
            full += counts[free + i, row] >= need
        kinds[row] = 1 + free + full if begun > free else begun
    return kinds


class StackAutomaton(AbstractAutomaton):
    """Pairs of brackets: pair number i opens with id 2i + 1 and closes with id 2i + 2.

    Kinds: 0 no bracket open; 1 + i inside a bracket of pair i.
    """

    def init(self, count: int) -> State:
        """Returns empty stacks, which grow with the strings."""
        return np.zeros((4, count), np.int8), np.zeros(count, np.int32)

    def advance(self, state: State, symbols: np.ndarray) -> State:
        """Pushes an opening bracket, pops at a closing one."""
        stack, depth = state
        if depth.size and depth.max() == len(stack):
            stack = np.concatenate([stack, np.zeros_like(stack)])
        opens = np.flatnonzero(symbols % 2 == 1)
        stack[depth[opens], opens] = symbols[opens] // 2
        return stack, depth + np.where(symbols % 2 == 1, 1, -1).astype(np.int32)

    def kinds(self, state: State) -> np.ndarray:
        """Returns the kinds, by the innermost open bracket."""
        stack, depth = state
        top = stack[np.maximum(depth - 1, 0), np.arange(len(depth))]
        return np.where(depth == 0, 0, 1 + top.astype(np.int64))

    def scan(self, symbols: np.ndarray) -> np.ndarray:
        """Uses one list as the stack. A surplus closing bracket leaves it empty."""
        kinds, opened = [0], []
        for symbol in symbols.tolist():
            if symbol % 2:
                opened.append(1 + symbol // 2)
            elif opened:
                opened.pop()
            kinds.append(opened[-1] if opened else 0)
        return np.array(kinds)
