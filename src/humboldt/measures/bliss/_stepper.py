"""Models with known scores, and a check of distributions.

Symbols are ids of the language's alphabet (`language.input_alphabet`), and `#` is 0. A model's distributions have the
same order. The first symbol that a model reads is always `#`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages.bliss.base import AbstractLanguage
from humboldt.languages.bliss.parts.corpus import PRIOR
from humboldt.languages.chart import spell
from humboldt.measures.bliss._kernel import Table, first_fault


class Oracle:
    """The perfect model, which returns the next-symbol distribution of the language."""

    def __init__(self, language: AbstractLanguage, p: float = PRIOR) -> None:
        language.check_prior(p)
        self._automaton = language.automaton
        self._table = Table(language, p)

    def init(self, count: int) -> Any:
        """Returns the state of `count` rows that have read nothing, not even `#`."""
        return count

    def step(self, state: Any, symbols: np.ndarray) -> tuple[Any, np.ndarray]:
        """Advances the automaton; returns its state and the distributions, shape `(rows, vocabulary)`."""
        state = self._automaton.init(state) if isinstance(state, int) else self._automaton.advance(state, symbols)
        kinds = self._automaton.kinds(state)
        self._table = self._table.covering(kinds)
        return state, self._table.distributions[kinds]

    def take(self, state: Any, rows: np.ndarray) -> Any:
        """Returns the state of the given rows."""
        return self._automaton.take(state, rows)


class Uniform:
    """The uninformed model: all symbols are equally probable."""

    def __init__(self, vocabulary: int) -> None:
        self.vocabulary = vocabulary

    def init(self, count: int) -> None:
        """Returns `None`: there is no state."""

    def step(self, state: None, symbols: np.ndarray) -> tuple[None, np.ndarray]:
        """Returns uniform distributions, shape `(rows, vocabulary)`."""
        return None, np.full((len(symbols), self.vocabulary), 1 / self.vocabulary)

    def take(self, state: None, rows: np.ndarray) -> None:
        """Returns `None`: there is no state."""


class Persistent:
    """The degenerate model that the paper warns of (section 3.5).

    After the symbol with id `symbol` it predicts that symbol for ever; before, it is `Uniform`. On a^n b^n, with `b`,
    it errs only at the end of a string.
    """

    def __init__(self, vocabulary: int, symbol: int) -> None:
        self.vocabulary = vocabulary
        self.symbol = symbol

    def init(self, count: int) -> np.ndarray:
        """Returns the state of `count` rows without the symbol, shape `(count,)`."""
        return np.zeros(count, bool)

    def step(self, state: np.ndarray, symbols: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Marks rows that have read the symbol; returns them and the distributions, shape `(rows, vocabulary)`."""
        state = state | (symbols == self.symbol)
        certain = np.eye(self.vocabulary)[self.symbol]
        return state, np.where(state[:, None], certain, 1 / self.vocabulary)

    def take(self, state: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Returns the state of the given rows."""
        return state[rows]


def check_distributions(
    distributions: np.ndarray, rows: int, vocabulary: int, prefix: Callable[[int], Sequence[str]]
) -> np.ndarray:
    """Returns the distributions in double precision; raises an error if a row is not a distribution.

    `prefix(row)` returns the symbols that a row has read.
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
        "sum to 1: return them after a softmax, not logits or logarithms."
    )
