"""Intervals and tests, all from SciPy."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

RESAMPLES = 9_999
BOOTSTRAP_SEED = 0  # the same values have the same interval, on every machine


@dataclass(frozen=True)
class Interval:
    """From `low` to `high`, both included."""

    low: float
    high: float


def wilson(count: int, total: int, confidence: float = 0.95) -> Interval | None:
    """Wilson's score interval of a share; none where nothing was counted.

    >>> wilson(0, 100)
    Interval(low=0.0, high=0.03699...)
    """
    if total == 0:
        return None
    bounds = stats.binomtest(count, total).proportion_ci(confidence, method="wilson")
    return Interval(float(bounds.low), float(bounds.high))


def bootstrap(values: Sequence[float] | np.ndarray, confidence: float = 0.95) -> Interval | None:
    """Percentile bootstrap interval of the mean; none for fewer than two values or where one is not finite."""
    values = np.asarray(values, float)
    if len(values) < 2 or not np.isfinite(values).all():
        return None
    bounds = stats.bootstrap(
        (values,),
        np.mean,
        confidence_level=confidence,
        n_resamples=RESAMPLES,
        method="percentile",  # BCa is not defined where all values are equal, as they are for a perfect learner
        rng=np.random.default_rng(BOOTSTRAP_SEED),
    ).confidence_interval
    return Interval(float(bounds.low), float(bounds.high))


@dataclass(frozen=True)
class Comparison:
    """Paired t-test of two rules over seeds: the mean of `left` minus `right`, and the two-sided p-value.

    `p` is none for fewer than two seeds; both are none where a description length is infinite.
    """

    left: str
    right: str
    difference: float | None
    p: float | None


def paired_test(left: np.ndarray, right: np.ndarray) -> tuple[float | None, float | None]:
    """The mean difference and the two-sided p-value of a paired t-test; none where they are not defined.

    Where all differences are equal the statistic is not defined. Then p is its limit: 1 for differences of 0, else 0.
    """
    if not (np.isfinite(left).all() and np.isfinite(right).all()):
        return None, None
    differences = left - right
    mean = float(differences.mean())
    if len(differences) < 2:
        return mean, None
    if np.ptp(differences) <= 1e-12 * np.abs(differences).max():
        return mean, float(mean == 0)
    return mean, float(stats.ttest_rel(left, right).pvalue)  # pyright: ignore[reportAttributeAccessIssue]


def fisher(count: int, total: int, published: float, published_total: int) -> float:
    """Fisher's exact test of our share against a published one, which is given as the rounded value of a table.

    The published count is the whole number nearest to `published` x `published_total`.

    >>> fisher(5, 100, 0.07, 100)
    0.767...
    """
    theirs = round(published * published_total)
    table = [[count, total - count], [theirs, published_total - theirs]]
    return float(stats.fisher_exact(table).pvalue)  # pyright: ignore[reportAttributeAccessIssue]
