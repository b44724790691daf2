"""The counting of one batch of predictions, row by row. Compiled: a test set may have 10^8 symbols."""

import math

import numpy as np

from humboldt._compiled import compiled
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


@compiled
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


@compiled
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
    """Which steps are wrong by each counter, shape `(counters, rows)`, and whether any is, shape `(counters,)`.

    The first counter is M_det's; then comes M_cat's at each margin. Adds the wrong steps to `path_errors`, shape
    `(counters, rows)`, and to `totals`, shape `(counters,)`, there as often as strings share the row: its weight.
    """
    rows, vocabulary = len(kinds), truth.shape[1]
    wrong = np.zeros((1 + len(epsilons), rows), np.bool_)
    for row in range(rows):
        kind = kinds[row]
        target = targets[kind]
        if target >= 0:
            for symbol in range(vocabulary):
                # The target must be preferred: a tie is no preference.
                if symbol != target and distributions[row, symbol] >= distributions[row, target]:
                    wrong[0, row] = True
        for i in range(len(epsilons)):
            for symbol in range(vocabulary):
                if (distributions[row, symbol] > epsilons[i]) != (truth[kind, symbol] > 0):
                    wrong[1 + i, row] = True
    found = np.zeros(len(wrong), np.bool_)
    for counter in range(len(wrong)):
        for row in range(rows):
            if wrong[counter, row]:
                found[counter] = True
                path_errors[counter, row] += 1
                totals[counter] += weights[row]
    return wrong, found


@compiled
def descend(
    start: np.ndarray, end: np.ndarray, points: np.ndarray, lengths: np.ndarray, depth: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """From the prefixes of one length to those one longer.

    A row stands for the strings `start` to `end` - 1, in order; they part before each of `points`, and some end here.

    **Returns:** for the new rows the row that each comes from, its start and its end; then the strings that end here,
    and the rows they come from.
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
            if lengths[low] == depth:  # then it is alone: `#` is unlike any symbol
                ended[num_ended], ended_in[num_ended] = low, row
                num_ended += 1
            else:
                parents[count], new_start[count], new_end[count] = row, low, high
                count += 1
            low = high
    return parents[:count], new_start[:count], new_end[:count], ended[:num_ended], ended_in[:num_ended]
