"""What a model must offer to be measured, adapters to it, and three models whose scores are known beforehand.

Symbols are ids of the language's alphabet (`language.input_alphabet`), `#` being 0, in the order of which a model's
distributions are read too. The first symbol a model is given is always `#`.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages._chart import spell
from humboldt.languages.bliss._base import AbstractLanguage
from humboldt.languages.bliss._corpus import PRIOR
from humboldt.measures.bliss._kernel import first_fault


@runtime_checkable
class Stepper(Protocol):
    """A batch of rows, each reading its own string. States are the model's own affair.

    A state is not used again once `step` or `take` has been given it, so both may overwrite it.
    """

    def init(self, count: int) -> Any:
        """The state of `count` rows that have read nothing."""
        ...

    def step(self, state: Any, symbols: np.ndarray) -> tuple[Any, np.ndarray]:
        """Reads one symbol in each row, shape `(count,)`; returns the state and the distributions of the next symbol,
        shape `(count, vocabulary)`.
        """
        ...

    def take(self, state: Any, rows: np.ndarray) -> Any:
        """The state with the given rows, in that order; a row may occur never, once, or several times."""
        ...


class FromPrefixes:
    """Makes a stepper of a function from prefixes, `(count, time)`, to distributions, `(count, vocabulary)`.

    Simple and slow: every prefix is read from its beginning.
    """

    def __init__(self, function: Callable[[np.ndarray], np.ndarray]) -> None:
        self.function = function

    def init(self, count: int) -> np.ndarray:
        """No symbols."""
        return np.zeros((count, 0), np.int32)

    def step(self, state: np.ndarray, symbols: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Appends and asks."""
        state = np.concatenate([state, symbols[:, None].astype(np.int32)], 1)
        return state, self.function(state)

    def take(self, state: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Selects."""
        return state[rows]


class Oracle:
    """The perfect model: the language's own next-symbol distribution."""

    def __init__(self, language: AbstractLanguage, p: float = PRIOR) -> None:
        language.check_prior(p)
        self._automaton = language.automaton
        self._table = language.distributions(p)

    def init(self, count: int) -> Any:
        """Nothing read, not even `#`."""
        return count

    def step(self, state: Any, symbols: np.ndarray) -> tuple[Any, np.ndarray]:
        """Follows the automaton."""
        state = self._automaton.init(state) if isinstance(state, int) else self._automaton.advance(state, symbols)
        return state, self._table[self._automaton.kinds(state)]

    def take(self, state: Any, rows: np.ndarray) -> Any:
        """Selects."""
        return self._automaton.take(state, rows)


class Uniform:
    """The model that knows nothing: every symbol is as probable as any other."""

    def __init__(self, vocabulary: int) -> None:
        self.vocabulary = vocabulary

    def init(self, count: int) -> None:
        """Keeps nothing."""

    def step(self, state: None, symbols: np.ndarray) -> tuple[None, np.ndarray]:
        """The same everywhere."""
        return None, np.full((len(symbols), self.vocabulary), 1 / self.vocabulary)

    def take(self, state: None, rows: np.ndarray) -> None:
        """Nothing to select."""


class Persistent:
    """The degenerate model of the paper's warning (section 3.5): once it has seen the symbol with id `symbol`, it
    predicts that symbol for ever. Before, it is `Uniform`. On a^n b^n, with `b`, it errs only at the end of a string.
    """

    def __init__(self, vocabulary: int, symbol: int) -> None:
        self.vocabulary = vocabulary
        self.symbol = symbol

    def init(self, count: int) -> np.ndarray:
        """Not seen."""
        return np.zeros(count, bool)

    def step(self, state: np.ndarray, symbols: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Remembers."""
        state = state | (symbols == self.symbol)
        certain = np.eye(self.vocabulary)[self.symbol]
        return state, np.where(state[:, None], certain, 1 / self.vocabulary)

    def take(self, state: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Selects."""
        return state[rows]


def check_distributions(
    distributions: np.ndarray, rows: int, vocabulary: int, prefix: Callable[[int], Sequence[str]]
) -> np.ndarray:
    """The distributions in double precision; raises where they are none.

    `prefix(row)` tells what a row has read.
    """
    distributions = np.asarray(distributions)
    if distributions.shape != (rows, vocabulary):
        raise UsageError(
            f"The model returned distributions of shape {distributions.shape} after {spell(prefix(0))!r}. One for each "
            f"of {rows} rows over {vocabulary} symbols has shape {(rows, vocabulary)}: return that."
        )
    distributions = np.array(distributions, np.float64, order="C")
    row = first_fault(distributions)
    if row < 0:
        return distributions
    values = distributions[row]
    if np.isnan(values).any():
        fault = "holds NaN"
    elif (values < 0).any():
        fault = "holds a negative value"
    else:
        fault = f"sums to {values.sum():g}"
    listing = ", ".join(f"{value:g}" for value in values)
    raise UsageError(
        f"After {spell(prefix(row))!r} the model's distribution ({listing}) {fault}. Probabilities are at least 0 and "
        "sum to 1: return them behind a softmax, not logits or logarithms."
    )
