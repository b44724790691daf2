"""Counts errors in one batch of predictions, row by row. Compiled, because a test set may have 10^8 symbols."""

import math

import numpy as np

from humboldt.compiled import compiled
from humboldt.languages.bliss.base import AbstractLanguage

TOLERANCE = 1e-4  # of a sum of probabilities: it accepts single precision and rejects a missing softmax


class Table:
    """The next-symbol distribution of a language for each kind of prefix.

    - `distributions`: shape `(kinds, vocabulary)`; `entropies`: of these, in bits, shape `(kinds,)`.
    - `targets`: shape `(kinds,)`, the only symbol that can follow if the step is deterministic, otherwise -1.
    """

    def __init__(self, language: AbstractLanguage, p: float) -> None:
        self._language, self._p = language, p
        self.distributions = language.distributions(p)
        self.vocabulary = self.distributions.shape[1]
        valid = self.distributions > 0
        logarithms = np.log2(self.distributions, out=np.zeros_like(self.distributions), where=valid)
        self.entropies = -(self.distributions * logarithms).sum(1)
        self.targets = np.where(language.deterministic_kinds(), valid.argmax(1), -1)

    def covering(self, kinds: np.ndarray) -> "Table":
        """Returns the table with these kinds: a new one if a language from a file has added kinds while reading."""
        return self if kinds.max(initial=-1) < len(self.distributions) else Table(self._language, self._p)


@compiled
def first_fault(distributions: np.ndarray) -> int:
    """Returns the first row that is not a distribution, or -1."""
    for row in range(distributions.shape[0]):
        total = 0.0
        for value in distributions[row]:
            if not value >= 0:  # negative or NaN
                return row
            total += value
        if not abs(total - 1) <= TOLERANCE:
            return row
    return -1


@compiled
def divergences(distributions: np.ndarray, kinds: np.ndarray, truth: np.ndarray, entropies: np.ndarray) -> np.ndarray:
    """Returns KL divergences from language to model in bits, shape `(rows,)`; infinite where the model has 0."""
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


@compiled
def count_wrong(
    distributions: np.ndarray,
    kinds: np.ndarray,
    weights: np.ndarray,
    truth: np.ndarray,
    targets: np.ndarray,
    epsilons: np.ndarray,
    path_errors: np.ndarray,
    totals: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Returns masks of wrong steps, shape `(counters, rows)`, and of counters with any, shape `(counters,)`.

    The first counter is that of M_det; then follows that of M_cat at each margin. Adds the wrong steps to
    `path_errors`, shape `(counters, rows)`, and to `totals`, shape `(counters,)`, where each step is multiplied by the
    number of strings that share the row, its weight.
    """
    rows, vocabulary = len(kinds), truth.shape[1]
    wrong = np.zeros((1 + len(epsilons), rows), np.bool_)
    for row in range(rows):
        kind = kinds[row]
        target = targets[kind]
        if target >= 0:
            for symbol in range(vocabulary):
                # The target must have the highest probability: a tie is an error.
                if symbol != target and distributions[row, symbol] >= distributions[row, target]:
                    wrong[0, row] = True
        for i in range(len(epsilons)):
            for symbol in range(vocabulary):
                if (distributions[row, symbol] > epsilons[i]) != (truth[kind, symbol] > 0):
                    wrong[1 + i, row] = True
    any_wrong = np.zeros(len(wrong), np.bool_)
    for counter in range(len(wrong)):
        for row in range(rows):
            if wrong[counter, row]:
                any_wrong[counter] = True
                path_errors[counter, row] += 1
                totals[counter] += weights[row]
    return wrong, any_wrong


@compiled
def descend(
    start: np.ndarray, end: np.ndarray, points: np.ndarray, lengths: np.ndarray, depth: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Computes the prefixes that are longer by one symbol.

    A row represents the strings `start` to `end` - 1, in order. It is split before each of `points`, and some strings
    end here.

    **Returns:** for each new row its parent row, its start and its end; then the strings that end here, and their rows.
    """
    most = len(start) + len(points)
    parents, new_start, new_end = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    ended, ended_in = np.empty(most, np.int64), np.empty(most, np.int64)
    count, num_ended, point = 0, 0, 0
    for row in range(len(start)):
        low = start[row]
        while point < len(points) and points[point] <= low:  # of rows that were dropped
            point += 1
        while low < end[row]:
            high = end[row]
            if point < len(points) and points[point] < high:
                high = points[point]
                point += 1
            if lengths[low] == depth:  # then it is the only one: `#` differs from any symbol
                ended[num_ended], ended_in[num_ended] = low, row
                num_ended += 1
            else:
                parents[count], new_start[count], new_end[count] = row, low, high
                count += 1
            low = high
    return parents[:count], new_start[:count], new_end[:count], ended[:num_ended], ended_in[:num_ended]
