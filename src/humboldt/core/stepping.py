"""The interface for reading many strings symbol by symbol, and adapters for functions of whole strings."""

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np

STATE_BYTES = 2**28  # most memory for the states of all rows that are read together


@runtime_checkable
class Stepper(Protocol):
    """Reads a batch of rows, each with its own string. The type of states is up to the model.

    A state is not used again after it was passed to `step` or `take`, so both may overwrite it.
    """

    def init(self, count: int) -> Any:
        """Returns the initial state of `count` rows."""
        ...

    def step(self, state: Any, symbols: np.ndarray) -> tuple[Any, np.ndarray]:
        """Reads one symbol in each row, shape `(count,)`; returns the state and the distributions of the next symbol,
        shape `(count, vocabulary)`.
        """
        ...

    def take(self, state: Any, rows: np.ndarray) -> Any:
        """Returns the state with the given rows, in that order; rows may be omitted or repeated."""
        ...


class FromPrefixes:
    """Makes a stepper of a function from prefixes, `(count, time)`, to distributions, `(count, vocabulary)`.

    Simple and slow: every prefix is read from its beginning.
    """

    def __init__(self, function: Callable[[np.ndarray], np.ndarray]) -> None:
        self.function = function

    def init(self, count: int) -> np.ndarray:
        """Returns empty prefixes, shape `(count, 0)`."""
        return np.zeros((count, 0), np.int32)

    def step(self, state: np.ndarray, symbols: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Appends a symbol to each prefix and calls the function."""
        state = np.concatenate([state, symbols[:, None].astype(np.int32)], 1)
        return state, self.function(state)

    def take(self, state: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Returns the given rows."""
        return state[rows]


class FromStrings:
    """Makes a stepper of a causal model that reads whole strings.

    `read(tokens, first)` is given strings, shape `(count, time)`, and returns the distributions after each symbol from
    number `first` on, shape `(count, time - first, vocabulary)`. Measures that know their strings beforehand call it
    (see `ReadAhead` in `humboldt.measures.bliss`); `step` reads every prefix from its beginning.
    """

    def __init__(self, read: Callable[[np.ndarray, int], np.ndarray]) -> None:
        self.read = read
        self._prefixes = FromPrefixes(lambda prefixes: read(prefixes, prefixes.shape[1] - 1)[:, 0])

    def init(self, count: int) -> np.ndarray:
        """Returns empty prefixes, shape `(count, 0)`."""
        return self._prefixes.init(count)

    def step(self, state: np.ndarray, symbols: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Appends a symbol to each prefix and reads it."""
        return self._prefixes.step(state, symbols)

    def take(self, state: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Returns the given rows."""
        return self._prefixes.take(state, rows)
