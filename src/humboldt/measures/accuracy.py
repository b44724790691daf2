"""Accuracy over lengths, as Delétang et al. (2023) define it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

VERSION = 1  # grows when the same predictions can get another score


@dataclass(frozen=True)
class LengthCurve:
    """Accuracy at each length: `lengths`, `accuracy` and the number of strings at each, all of one size."""

    lengths: tuple[int, ...]
    accuracy: tuple[float, ...]
    strings: tuple[int, ...]


def accuracy_per_length(
    correct: np.ndarray, counted: np.ndarray, lengths: np.ndarray, *, pooled: bool = False
) -> LengthCurve:
    """Per-sequence accuracy (the share of a string's target symbols that are right), averaged at each length.

    **Arguments:** each of shape `(strings,)`.

    - `correct`: right target symbols of each string.
    - `counted`: target symbols of each string.
    - `lengths`: length of each string's input.
    - `pooled`: the share of all target symbols of a length instead, in which a string with more of them counts more.

    >>> accuracy_per_length(np.array([1, 2, 0]), np.array([2, 2, 1]), np.array([4, 4, 5]))
    LengthCurve(lengths=(4, 5), accuracy=(0.75, 0.0), strings=(2, 1))
    >>> accuracy_per_length(np.array([1, 4]), np.array([2, 4]), np.array([4, 4]), pooled=True).accuracy
    (0.8333333333333334,)
    """
    if not (len(correct) == len(counted) == len(lengths)):
        raise ValueError(
            f"{len(correct)} counts of correct symbols, {len(counted)} of symbols, {len(lengths)} lengths."
        )
    values, index = np.unique(lengths, return_inverse=True)
    strings = np.bincount(index)
    if pooled:
        accuracy = np.bincount(index, correct) / np.bincount(index, counted)
    else:
        accuracy = np.bincount(index, correct / counted) / strings
    return LengthCurve(tuple(values.tolist()), tuple(accuracy.tolist()), tuple(strings.tolist()))


def score(curve: LengthCurve, first: int, last: int) -> float:
    """The mean over the lengths `first`..`last`, both included, each length counting once.

    The paper's score is `score(curve, 41, 500)`. Lengths of the curve outside the range do not count.
    """
    inside = [a for length, a in zip(curve.lengths, curve.accuracy, strict=True) if first <= length <= last]
    if not inside:
        raise ValueError(f"No length of the curve lies in {first}..{last}; it has {curve.lengths}.")
    return float(np.mean(inside))


class LengthTally:
    """`accuracy_per_length` of several members, and its standard error, while the strings come in: memory grows with
    the lengths, not with the strings. Sums are taken in the order of the strings, so the results have the same bits.

    >>> tally = LengthTally([4, 5], members=1)
    >>> tally.add(np.array([[1, 2]]), np.array([2, 2]), np.array([4, 4]))
    >>> tally.add(np.array([[0]]), np.array([1]), np.array([5]))
    >>> tally.curves()[0]
    LengthCurve(lengths=(4, 5), accuracy=(0.75, 0.0), strings=(2, 1))
    >>> round(float(tally.standard_errors()[0]), 4)
    0.125
    """

    def __init__(self, lengths: Sequence[int], members: int, *, pooled: bool = False) -> None:
        self.lengths, self.pooled = np.array(lengths), pooled
        self.strings = np.zeros(len(lengths), int)
        self._counted = np.zeros(len(lengths))
        self._sums, self._squares, self._correct = (np.zeros((members, len(lengths))) for _ in range(3))

    def add(self, correct: np.ndarray, counted: np.ndarray, lengths: np.ndarray) -> None:
        """Some strings: right target symbols, shape `(member, strings)`, of how many, and the lengths of inputs."""
        places = np.searchsorted(self.lengths, lengths)
        np.add.at(self.strings, places, 1)
        np.add.at(self._counted, places, counted)
        for member, of_member in enumerate(correct):
            shares = of_member / counted
            np.add.at(self._sums[member], places, shares)
            np.add.at(self._squares[member], places, shares**2)
            np.add.at(self._correct[member], places, of_member)

    def curves(self) -> list[LengthCurve]:
        """For each member."""
        accuracy = self._correct / self._counted if self.pooled else self._sums / self.strings
        shared = tuple(self.lengths.tolist()), tuple(self.strings.tolist())
        return [LengthCurve(shared[0], tuple(row.tolist()), shared[1]) for row in accuracy]

    def standard_errors(self) -> np.ndarray:
        """For each member, of the mean over lengths of the mean accuracy at each: what other test strings of the same
        lengths could change. A length with one string, of which that is not known, counts as 0."""
        means = self._sums / self.strings
        spread = np.maximum(self._squares - self.strings * means**2, 0) / np.maximum(self.strings - 1, 1)
        return np.sqrt((spread / self.strings).sum(1)) / len(self.lengths)


def normal_interval(value: float, error: float) -> tuple[float, float]:
    """The 95% interval around a mean of shares."""
    return max(0.0, value - 1.96 * error), min(1.0, value + 1.96 * error)


@dataclass(frozen=True)
class Summary:
    """What a table shows of an ensemble. `members` counts those with a score."""

    max: float
    mean: float
    std: float
    members: int


def summarise(scores: Sequence[float]) -> Summary:
    """Maximum, mean and standard deviation (of this set of members, not an estimate for others).

    >>> summarise([0.5, 1.0])
    Summary(max=1.0, mean=0.75, std=0.25, members=2)
    """
    values = np.array(scores, float)
    if len(values) == 0 or not np.isfinite(values).all():
        raise ValueError(f"Scores must be finite and at least one, not {list(scores)}.")
    return Summary(float(values.max()), float(values.mean()), float(values.std()), len(values))
