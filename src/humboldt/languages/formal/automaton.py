"""Deterministic finite automata, with or without weights.

>>> parity = Automaton(("0", "1"), np.array([[0, 1], [1, 0]]), np.array([True, False]), names=("even", "odd"))
>>> parity.accepts("1 0 1".split()), parity.names[parity.run("1 0 0".split())]
(True, 'odd')
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from humboldt.errors import UsageError

MISSING = -1  # in a table: no transition, so strings are rejected
MOST_STATES = 10_000
MOST_ENTRIES = 1_000_000  # states times symbols


@dataclass(frozen=True, eq=False)
class Automaton:
    """A deterministic automaton. A missing transition rejects.

    - `alphabet`: sorted. All symbols of the file, even if one leads only to rejection.
    - `table`: shape `(states, symbols)`, the next state or `MISSING`.
    - `accepting`: shape `(states,)`. `start`: a state. `names`: of the states; by default their numbers.
    - `moves`, `stops`: shapes `(states, symbols)` and `(states,)`, the probabilities of the transitions of a state and
      of stopping there, which sum to 1 in each state; `None` in an automaton without weights.
    """

    alphabet: tuple[str, ...]
    table: np.ndarray
    accepting: np.ndarray
    start: int = 0
    names: tuple[str, ...] = ()
    moves: np.ndarray | None = None
    stops: np.ndarray | None = None

    def __post_init__(self) -> None:
        states = len(self.table)
        refuse_size(states, len(self.alphabet))
        if list(self.alphabet) != sorted(set(self.alphabet)):
            raise ValueError(f"The alphabet {self.alphabet} is not sorted, or holds a symbol twice.")
        if not self.names:
            object.__setattr__(self, "names", tuple(map(str, range(states))))
        shapes = {"table": (states, len(self.alphabet)), "accepting": (states,)}
        if (self.moves is None) != (self.stops is None):
            raise ValueError("Give both `moves` and `stops`, or neither.")
        if self.moves is not None:
            shapes |= {"moves": (states, len(self.alphabet)), "stops": (states,)}
        types = {"table": np.int32, "accepting": np.bool_, "moves": np.float64, "stops": np.float64}
        for name, shape in shapes.items():
            array = np.array(getattr(self, name), types[name])
            if array.shape != shape:
                raise ValueError(f"`{name}` has shape {array.shape}, expected {shape}.")
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        if not 0 <= self.start < states or len(self.names) != states:
            raise ValueError(f"Start {self.start} or the {len(self.names)} names do not fit {states} states.")
        if self.table.size and not (self.table.min() >= MISSING and self.table.max() < states):
            raise ValueError(f"The table leads outside the {states} states.")
        if self.moves is not None and self.stops is not None:
            fits = ((self.moves > 0) == (self.table != MISSING)).all() and ((self.stops > 0) == self.accepting).all()
            if not fits or np.abs(self.moves.sum(axis=1) + self.stops - 1)[self.live].max(initial=0) > 1e-9:
                raise ValueError("The weights of a state do not form a distribution over its transitions and stopping.")
            if (self.reachable & ~self.live).any():
                raise ValueError("A state with weights cannot reach acceptance, so strings end with probability < 1.")

    def __len__(self) -> int:
        return len(self.table)

    @property
    def is_weighted(self) -> bool:
        """Whether it defines probabilities."""
        return self.moves is not None

    @cached_property
    def ids(self) -> dict[str, int]:
        """Symbols and their columns in `table`."""
        return {symbol: column for column, symbol in enumerate(self.alphabet)}

    @cached_property
    def edges(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sources, symbols and targets of all transitions, by source, then by symbol."""
        sources, symbols = np.nonzero(self.table != MISSING)
        return sources, symbols, self.table[sources, symbols]

    @cached_property
    def reachable(self) -> np.ndarray:
        """Whether some string leads to each state, shape `(states,)`."""
        sources, _, targets = self.edges
        return _closure(sources, targets, [self.start], len(self))

    @cached_property
    def live(self) -> np.ndarray:
        """Whether each state can reach an accepting one, shape `(states,)`."""
        sources, _, targets = self.edges
        return _closure(targets, sources, np.nonzero(self.accepting)[0].tolist(), len(self))

    @property
    def is_empty(self) -> bool:
        """Whether it accepts no string at all."""
        return not bool(self.live[self.start])

    def run(self, string: Iterable[str]) -> int:
        """Returns the state after `string`, or `MISSING`. A symbol outside the alphabet rejects."""
        state = self.start
        for symbol in string:
            column = self.ids.get(symbol)
            if column is None or state == MISSING:
                return MISSING
            state = int(self.table[state, column])
        return state

    def accepts(self, string: Iterable[str]) -> bool:
        """Returns whether `string` is in the language."""
        state = self.run(string)
        return state != MISSING and bool(self.accepting[state])

    def encode(self, string: Sequence[str]) -> np.ndarray:
        """Returns the columns of the symbols of a string, `MISSING` for symbols outside the alphabet."""
        return np.array([self.ids.get(symbol, MISSING) for symbol in string], np.int32)

    def decode(self, columns: Iterable[int]) -> tuple[str, ...]:
        """Returns the symbols of columns; negative ones are padding and left out."""
        return tuple(self.alphabet[column] for column in columns if column >= 0)

    def trace(self, columns: np.ndarray) -> np.ndarray:
        """Returns the states before, between and after the symbols of many strings, shape `(count, time + 1)`.

        `columns` has shape `(count, time)`; from a negative column on, all states of its row are `MISSING`.
        """
        count, time = columns.shape
        padded = np.full((len(self) + 1, len(self.alphabet) + 1), MISSING, np.int32)
        padded[:-1, :-1] = self.table  # the last row and column stay `MISSING`: -1 refers to them
        states = np.empty((count, time + 1), np.int32)
        states[:, 0] = self.start
        for step in range(time):
            states[:, step + 1] = padded[states[:, step], np.maximum(columns[:, step], MISSING)]
        return states

    def restricted(self, keep: Sequence[int] | np.ndarray) -> "Automaton":
        """Returns the automaton on the states `keep`, in that order. The start must be among them; weights stay as they
        are.
        """
        keep = np.asarray(keep, np.int64)
        number = np.full(len(self) + 1, MISSING, np.int32)
        number[keep] = np.arange(len(keep))
        return Automaton(
            self.alphabet,
            number[self.table[keep]],
            self.accepting[keep],
            int(number[self.start]),
            tuple(self.names[state] for state in keep),
            None if self.moves is None else self.moves[keep],
            None if self.stops is None else self.stops[keep],
        )


def refuse_size(states: int, symbols: int) -> None:
    """Raises an error for tables beyond the limits, before they are built."""
    if states > MOST_STATES:
        raise UsageError(
            f"An automaton with {states:,} states is beyond the limit of {MOST_STATES:,}. Use a smaller language."
        )
    if states * symbols > MOST_ENTRIES:
        raise UsageError(
            f"An automaton with {states:,} states and {symbols:,} symbols is beyond the limit of {MOST_ENTRIES:,} for "
            "their product. Use fewer of either."
        )


def _closure(sources: np.ndarray, targets: np.ndarray, begin: Sequence[int], states: int) -> np.ndarray:
    """Returns which states can be reached from `begin` along the edges, shape `(states,)`."""
    followers: list[list[int]] = [[] for _ in range(states)]
    for source, target in zip(sources.tolist(), targets.tolist(), strict=True):
        followers[source].append(target)
    reached = np.zeros(states, bool)
    reached[list(begin)] = True
    pending = list(begin)
    while pending:
        for target in followers[pending.pop()]:
            if not reached[target]:
                reached[target] = True
                pending.append(target)
    return reached
