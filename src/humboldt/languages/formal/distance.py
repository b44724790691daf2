"""Edit distance of strings to a language: the fewest insertions, deletions and substitutions of one symbol.

>>> from humboldt.languages.formal.regex import parse_regex
>>> language = parse_regex("( a b )*")
>>> [edit_distance(language, string.split()) for string in ("a b", "a", "b a", "a a a a", "c")]
[0, 1, 2, 2, 1]
"""

from collections.abc import Sequence

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages.formal.automaton import Automaton
from humboldt.languages.formal.minimal import minimal, without_weights

FAR = np.int32(2**30)


class EditDistance:
    """Distances to one language: the shortest path in the product of a string and the minimal automaton, kept for all
    states and all strings of a batch at once while the strings are read.
    """

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = minimal(without_weights(automaton))
        if self.automaton.is_empty:
            raise UsageError("The language is empty, so no string has a distance to it.")
        sources, symbols, targets = self.automaton.edges
        self._any = _Edges(sources, targets)
        self._reading = [_Edges(sources[symbols == s], targets[symbols == s]) for s in range(len(automaton.alphabet))]

    def __call__(self, columns: np.ndarray, lengths: np.ndarray | None = None) -> np.ndarray:
        """Returns the distances of many strings, shape `(count,)`.

        `columns` has shape `(count, time)`, as `Automaton.encode` gives them; a symbol outside the alphabet is
        negative. `lengths` is the number of columns of each row that count; by default all.
        """
        count, time = columns.shape
        lengths = np.full(count, time) if lengths is None else np.asarray(lengths)
        cost = np.full((len(self.automaton), count), FAR)  # the fewest edits that lead to each state
        cost[self.automaton.start] = 0
        self._insert(cost, cost.copy())
        for step in range(time):
            reading = np.nonzero(lengths > step)[0]
            if len(reading) == count:
                cost = self._after(cost, columns[:, step])
            else:
                cost[:, reading] = self._after(cost[:, reading], columns[reading, step])
        return cost[self.automaton.accepting].min(axis=0)

    def _after(self, cost: np.ndarray, symbols: np.ndarray) -> np.ndarray:
        after = cost + 1  # the symbol is deleted
        for symbol in np.unique(symbols[symbols >= 0]):  # or it is what a transition reads
            edges, strings = self._reading[symbol], np.nonzero(symbols == symbol)[0]
            least = edges.least(cost[:, strings])
            place = np.ix_(edges.targets, strings)
            after[place] = np.minimum(after[place], least)
        self._insert(after, np.minimum(cost, after))  # or replaced: any transition, for one edit
        return after

    def _insert(self, cost: np.ndarray, through: np.ndarray) -> None:
        """Lowers costs by transitions that take one edit, first from `through`, until nothing changes."""
        while len(self._any.targets):
            before = cost[self._any.targets]
            least = np.minimum(before, self._any.least(through) + 1)
            if np.array_equal(before, least):
                break
            cost[self._any.targets] = least
            through = cost


class _Edges:
    """Transitions by target: each target once, with the sources that lead to it."""

    def __init__(self, sources: np.ndarray, targets: np.ndarray) -> None:
        pairs = np.unique(np.stack([targets, sources], axis=1), axis=0)
        self.sources = pairs[:, 1]
        self.targets, self._begins = np.unique(pairs[:, 0], return_index=True)

    def least(self, cost: np.ndarray) -> np.ndarray:
        """Returns the least cost among the sources of each target."""
        if not len(self.sources):
            return cost[:0]
        return np.minimum.reduceat(cost[self.sources], self._begins, axis=0)


def edit_distance(automaton: Automaton, string: Sequence[str]) -> int:
    """Returns the distance of one string."""
    distance = EditDistance(automaton)
    return int(distance(distance.automaton.encode(string)[None])[0])
