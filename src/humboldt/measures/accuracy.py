"""Accuracy by length, as defined by Delétang et al. (2023)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from humboldt.measures.statistics import RANDOM_SEED, share

RESAMPLED_SCORES = 999  # each resamples all strings, 235,520 at the paper's size
VERSION = 1  # increases when the same predictions can get another score


@dataclass(frozen=True)
class LengthCurve:
    """Accuracy at each length: `lengths`, `accuracy` and `strings` (their number) have one entry per length."""

    lengths: tuple[int, ...]
    accuracy: tuple[float, ...]
    strings: tuple[int, ...]


def accuracy_per_length(
    correct: np.ndarray, counted: np.ndarray, lengths: np.ndarray, *, pooled: bool = False
) -> LengthCurve:
    """Returns the per-sequence accuracy (share of correct target symbols of a string), averaged at each length.

    **Arguments:** each of shape `(strings,)`.

    - `correct`: number of correct target symbols of each string.
    - `counted`: number of target symbols of each string.
    - `lengths`: length of each string's input.
    - `pooled`: whether to use the share of all target symbols of a length, so that longer targets have more weight.

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
    """Returns the mean over the lengths `first`..`last`, both included, with equal weight per length.

    The paper's score is `score(curve, 41, 500)`. Lengths of the curve outside the range are ignored.
    """
    inside = [a for length, a in zip(curve.lengths, curve.accuracy, strict=True) if first <= length <= last]
    if not inside:
        raise ValueError(f"No length of the curve lies in {first}..{last}; it has {curve.lengths}.")
    return float(np.mean(inside))


def scaled(accuracy: float, chance: float) -> float:
    """Returns scaled accuracy: 0 at the chance level, 1 if all is right, and negative below chance.

    >>> scaled(0.6, 0.2), scaled(0.5, 0.5)
    (0.49999999999999994, 0.0)
    """
    if not 0 <= chance < 1:
        raise ValueError(f"The chance level must be from 0 to below 1, but is {chance}.")
    return (accuracy - chance) / (1 - chance)


class LengthTally:
    """Computes `accuracy_per_length` of several members, and its standard error, incrementally.

    Memory grows with the number of lengths, not of strings, unless shares are kept for `intervals`. Sums are taken in
    the order of the strings, so the results are equal bit by bit.

    >>> tally = LengthTally([4, 5], members=1)
    >>> tally.add(np.array([[1, 2]]), np.array([2, 2]), np.array([4, 4]))
    >>> tally.add(np.array([[0]]), np.array([1]), np.array([5]))
    >>> tally.curves()[0]
    LengthCurve(lengths=(4, 5), accuracy=(0.75, 0.0), strings=(2, 1))
    >>> round(float(tally.standard_errors()[0]), 4)
    0.125
    """

    def __init__(
        self, lengths: Sequence[int], members: int, *, pooled: bool = False, keeps_shares: bool = False
    ) -> None:
        self.lengths, self.pooled = np.array(lengths), pooled
        self._shares: list[np.ndarray] | None = [] if keeps_shares else None
        self._places: list[np.ndarray] = []
        self.strings = np.zeros(len(lengths), int)
        self._counted = np.zeros(len(lengths))
        self._sums, self._squares, self._correct = (np.zeros((members, len(lengths))) for _ in range(3))

    def add(self, correct: np.ndarray, counted: np.ndarray, lengths: np.ndarray) -> None:
        """Adds strings: correct symbols, `(members, strings)`; target symbols and input lengths, `(strings,)`."""
        places = np.searchsorted(self.lengths, lengths)
        np.add.at(self.strings, places, 1)
        np.add.at(self._counted, places, counted)
        if self._shares is not None:
            self._shares.append(correct / counted)
            self._places.append(places)
        for member, of_member in enumerate(correct):
            shares = of_member / counted
            np.add.at(self._sums[member], places, shares)
            np.add.at(self._squares[member], places, shares**2)
            np.add.at(self._correct[member], places, of_member)

    def curves(self) -> list[LengthCurve]:
        """Returns the curve of each member."""
        accuracy = self._correct / self._counted if self.pooled else self._sums / self.strings
        shared = tuple(self.lengths.tolist()), tuple(self.strings.tolist())
        return [LengthCurve(shared[0], tuple(row.tolist()), shared[1]) for row in accuracy]

    def standard_errors(self) -> np.ndarray:
        """Returns the standard error of each member's mean over lengths of mean accuracies, shape `(members,)`.

        It estimates the effect of other test strings of the same lengths. The unknown variance at a length with a
        single string counts as 0.
        """
        means = self._sums / self.strings
        spread = np.maximum(self._squares - self.strings * means**2, 0) / np.maximum(self.strings - 1, 1)
        return np.sqrt((spread / self.strings).sum(1)) / len(self.lengths)

    def intervals(self) -> list[tuple[float, float]]:
        """Returns the interval of each member's score, if shares are kept."""
        if self._shares is None:
            raise ValueError("A tally has intervals if it keeps shares: use keeps_shares=True.")
        places = np.concatenate(self._places)
        of_lengths = [np.flatnonzero(places == place) for place in range(len(self.lengths))]
        return [score_interval([row[of] for of in of_lengths]) for row in np.concatenate(self._shares, axis=1)]


def score_interval(shares: Sequence[np.ndarray]) -> tuple[float, float]:
    """Returns the 95% interval of a score, given the shares of correct symbols of the strings of each length.

    It covers the scores that other strings of the same lengths could give. The score is a mean over lengths of means,
    not a share of equal trials, so strings are resampled within their length (percentile bootstrap, with a fixed seed).
    If all strings of each length have the same share, as with a perfect score, resampling has no effect, and the bounds
    are Wilson's for as many strings.

    >>> score_interval([np.ones(4), np.ones(4)])
    (0.6755..., 1.0)
    """
    if all(np.ptp(of_length) == 0 for of_length in shares):
        strings = sum(map(len, shares))
        part = share(round(strings * float(np.mean([of_length[0] for of_length in shares]))), strings)
        return part.low, part.high
    rng, total = np.random.default_rng(RANDOM_SEED), np.zeros(RESAMPLED_SCORES)
    for of_length in shares:
        total += of_length[rng.integers(len(of_length), size=(RESAMPLED_SCORES, len(of_length)))].mean(1)
    low, high = np.percentile(total / len(shares), [2.5, 97.5])
    return float(low), float(high)


@dataclass(frozen=True)
class Summary:
    """Statistics of an ensemble for a table. `members` is the number of members with a score."""

    max: float
    mean: float
    std: float
    members: int


def summarise(scores: Sequence[float]) -> Summary:
    """Returns maximum, mean and standard deviation (of these members, not an estimate for the population).

    >>> summarise([0.5, 1.0])
    Summary(max=1.0, mean=0.75, std=0.25, members=2)
    """
    values = np.array(scores, float)
    if len(values) == 0 or not np.isfinite(values).all():
        raise ValueError(f"Scores must be finite and at least one, not {list(scores)}.")
    return Summary(float(values.max()), float(values.mean()), float(values.std()), len(values))
