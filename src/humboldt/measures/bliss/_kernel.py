"""The counting of one batch of predictions, row by row. Compiled: a test set may have 10^8 symbols."""

import math

import numpy as np
from numba import njit

from humboldt.languages.bliss._base import AbstractLanguage

TOLERANCE = 1e-4  # of a sum of probabilities: single precision passes, a forgotten softmax does not


class Table:
    """What a language says of each kind of prefix.

    - `distributions`: shape `(kinds, vocabulary)`; `entropies`: theirs in bits, shape `(kinds,)`.
    - `targets`: shape `(kinds,)`, the one symbol that can follow where the step is deterministic, elsewhere -1.
    """

    def __init__(self, language: AbstractLanguage, p: float) -> None:
        self.distributions = language.distributions(p)
        self.vocabulary = self.distributions.shape[1]
        valid = self.distributions > 0
        logarithms = np.log2(self.distributions, out=np.zeros_like(self.distributions), where=valid)
        self.entropies = -(self.distributions * logarithms).sum(1)
        self.targets = np.where(language.deterministic_kinds(), valid.argmax(1), -1)


@njit(cache=True)
def first_fault(distributions: np.ndarray) -> int:
    """The first row that is no distribution, or -1."""
    for row in range(distributions.shape[0]):
        total = 0.0
        for value in distributions[row]:
            if not value >= 0:  # negative or NaN
                return row
            total += value
        if not abs(total - 1) <= TOLERANCE:
            return row
    return -1


@njit(cache=True)
def divergences(distributions: np.ndarray, kinds: np.ndarray, truth: np.ndarray, entropies: np.ndarray) -> np.ndarray:
    """From the language's distribution to the model's, in bits, shape `(rows,)`; infinite where the model's is 0."""
    result = np.empty(len(kinds))
    for row in range(len(kinds)):
        kind = kinds[row]
        bits = -entropies[kind]
        for symbol in range(truth.shape[1]):
            if truth[kind, symbol] > 0:
                chance = distributions[row, symbol]
                bits = bits - truth[kind, symbol] * math.log2(chance) if chance > 0 else math.inf
        result[row] = bits
    return result


@njit(cache=True)
def count_wrong(
    distributions: np.ndarray,
    kinds: np.ndarray,
    truth: np.ndarray,
    targets: np.ndarray,
    epsilons: np.ndarray,
    has_deterministic: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """Which steps are wrong by each counter, shape `(counters, rows)`, and how many rows each has, `(counters,)`.

    The first counter is M_det's, if the language has deterministic steps; then comes M_cat's at each margin.
    """
    offset = 1 if has_deterministic else 0
    rows = len(kinds)
    wrong = np.zeros((offset + len(epsilons), rows), np.bool_)
    counts = np.zeros(offset + len(epsilons), np.int64)
    for row in range(rows):
        kind = kinds[row]
        target = targets[kind]
        if target >= 0:
            for symbol in range(truth.shape[1]):
                # The target must be preferred: a tie is no preference.
                if symbol != target and distributions[row, symbol] >= distributions[row, target]:
                    wrong[0, row] = True
            counts[0] += wrong[0, row]
        for i in range(len(epsilons)):
            for symbol in range(truth.shape[1]):
                if (distributions[row, symbol] > epsilons[i]) != (truth[kind, symbol] > 0):
                    wrong[offset + i, row] = True
            counts[offset + i] += wrong[offset + i, row]
    return wrong, counts
