"""The symbols that can follow a prefix, and their probabilities.

>>> from humboldt.languages.formal.regex import parse_regex
>>> after = Continuations(parse_regex("( a b )* c?"))
>>> after.next_symbols("a b".split()) == Next(frozenset("ac"), can_stop=True)
True
>>> after.next_distribution("a b".split())
{'a': 0.3333333333333333, 'c': 0.3333333333333333, None: 0.3333333333333333}
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages.formal.automaton import MISSING, Automaton
from humboldt.languages.formal.minimal import with_weights


@dataclass(frozen=True)
class Next:
    """The symbols that can come after a prefix, and whether it is a string of the language itself."""

    symbols: frozenset[str]
    can_stop: bool


class Continuations:
    """Next symbols for all prefixes of a language. Without weights, all continuations are equally probable.

    Rows of `possible` (booleans) and `probabilities` belong to the states of `automaton`, columns to the symbols of
    its alphabet, and the last column to stopping. The last row belongs to prefixes that no string of the language
    begins with: nothing can follow them.
    """

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = with_weights(automaton)
        weights = self.automaton
        assert weights.moves is not None and weights.stops is not None
        shape = (len(weights) + 1, len(weights.alphabet) + 1)
        self.probabilities = np.zeros(shape)
        self.probabilities[:-1, :-1] = weights.moves
        self.probabilities[:-1, -1] = weights.stops
        self.possible = self.probabilities > 0

    def states(self, columns: np.ndarray) -> np.ndarray:
        """Returns the rows for all prefixes of many strings, shape `(count, time + 1)` for columns of shape `(count,
        time)`.
        """
        states = self.automaton.trace(columns)
        return np.where(states == MISSING, len(self.automaton), states)

    def sets(self, columns: np.ndarray) -> np.ndarray:
        """Returns whether each symbol, or the end, can follow each prefix, shape `(count, time + 1, symbols + 1)`."""
        return self.possible[self.states(columns)]

    def distributions(self, columns: np.ndarray) -> np.ndarray:
        """Returns the probabilities of the same, shape `(count, time + 1, symbols + 1)`."""
        return self.probabilities[self.states(columns)]

    def next_symbols(self, prefix: Sequence[str]) -> Next:
        """Returns the symbols that can follow `prefix`; none, if no string begins with it."""
        row = self.possible[self.automaton.run(prefix)]
        symbols = (symbol for symbol, can in zip(self.automaton.alphabet, row[:-1], strict=True) if can)
        return Next(frozenset(symbols), bool(row[-1]))

    def next_distribution(self, prefix: Sequence[str]) -> dict[str | None, float]:
        """Returns the probabilities of the symbols that can follow `prefix`, and of stopping under `None`."""
        state = self.automaton.run(prefix)
        if state == MISSING or not self.possible[state].any():
            raise UsageError(f"No string of the language begins with `{' '.join(prefix)}`. Give a prefix of one.")
        keys = (*self.automaton.alphabet, None)
        return {key: float(p) for key, p in zip(keys, self.probabilities[state], strict=True) if p > 0}

    def probability(self, string: Sequence[str]) -> float:
        """Returns the probability of a string."""
        columns = self.automaton.encode(string)[None]
        states = self.states(columns)[0]
        steps = self.probabilities[states[:-1], columns[0]]  # symbols outside the alphabet lead to the last row
        return float(np.prod(steps) * self.probabilities[states[-1], -1])
