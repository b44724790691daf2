"""Statistics of members: shares, means, the best of N, and differences, mostly with SciPy.

Members of two models share only the number of their seed, so tests between models are not paired. Comparisons within a
member (such as two rules) are paired, in the measures of the suite. SciPy is imported inside functions: it takes longer
to import than all of Humboldt.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

RESAMPLES = 9_999
MOST_RESAMPLED = 10_000  # values; of more, the interval is the normal one: see `bootstrap`
NUMBERS_AT_ONCE = 1_000_000  # in all resamples together: limits the memory of a bootstrap
RANDOM_SEED = 0  # the same values have the same interval, on every machine
FEWER = (1, 2, 5, 10, 20, 50, 100)  # members for which the expected best is reported


@dataclass(frozen=True)
class Interval:
    """A closed interval from `low` to `high`."""

    low: float
    high: float


@dataclass(frozen=True)
class Share:
    """`count` of `total`, with the Wilson interval of the share."""

    count: int
    total: int
    low: float
    high: float


def share(count: int, total: int, confidence: float = 0.95) -> Share:
    """Returns a share of members with its Wilson interval.

    >>> part = share(3, 20)
    >>> round(part.low, 3), round(part.high, 3)
    (0.052, 0.36)
    """
    interval = wilson(count, total, confidence)
    if interval is None:
        raise ValueError("A share needs at least one member.")
    return Share(count, total, interval.low, interval.high)


def wilson(count: int, total: int, confidence: float = 0.95) -> Interval | None:
    """Returns Wilson's score interval of a share; `None` if `total` is 0.

    >>> wilson(0, 100)
    Interval(low=0.0, high=0.03699...)
    """
    from scipy import stats

    if total == 0:
        return None
    bounds = stats.binomtest(count, total).proportion_ci(confidence, method="wilson")
    return Interval(float(bounds.low), float(bounds.high))


def bootstrap(values: Sequence[float] | np.ndarray, confidence: float = 0.95) -> Interval | None:
    """Returns the percentile bootstrap interval of the mean; `None` for fewer than two values or if one is not finite.

    Of more than `MOST_RESAMPLED` values it is the normal interval, mean ± z · deviation / √n, to which the percentile
    interval tends: at that number the two differ by about as much as two bootstraps with different seeds.
    """
    values = np.asarray(values, float)
    if len(values) < 2 or not np.isfinite(values).all():
        return None
    if len(values) > MOST_RESAMPLED:
        return _normal(values, confidence)
    return _bootstrap(tuple(values.tolist()), confidence)


def _normal(values: np.ndarray, confidence: float) -> Interval:
    from scipy import special

    mean = float(values.mean())
    reach = float(special.ndtri(0.5 + confidence / 2) * values.std() / np.sqrt(len(values)))
    return Interval(mean - reach, mean + reach)


@lru_cache(maxsize=4096)  # a page asks for the same values several times
def _bootstrap(values: tuple[float, ...], confidence: float) -> Interval:
    from scipy import stats

    bounds = stats.bootstrap(
        (np.asarray(values),),
        np.mean,
        confidence_level=confidence,
        n_resamples=RESAMPLES,
        batch=max(1, NUMBERS_AT_ONCE // len(values)),  # the same resamples, one after the other
        method="percentile",  # BCa is not defined where all values are equal, as they are for a perfect learner
        rng=np.random.default_rng(RANDOM_SEED),
    ).confidence_interval
    return Interval(float(bounds.low), float(bounds.high))


def expected_best(values: Sequence[float] | np.ndarray, fewer: int) -> float:
    """Returns the best that `fewer` of these members have on average: what the same study would have shown with less
    effort.

    It is the mean over all choices of `fewer` of the values without repetition, which is unbiased (Tang et al. 2020,
    Showing your work doesn't always work); drawing with repetition, as in Dodge et al. (2019), is biased downwards.

    >>> [round(expected_best([0.0, 0.5, 1.0], fewer), 6) for fewer in (1, 2, 3)]
    [0.5, 0.833333, 1.0]
    """
    ordered = np.sort(np.asarray(values, float))
    total = len(ordered)
    if not 1 <= fewer <= total:
        raise ValueError(f"The best of {fewer} of {total} members: give a number from 1 to {total}.")
    if fewer == total:
        return float(ordered[-1])
    # The i-th smallest value is the best of a choice if all others of the choice are smaller.
    before = np.arange(fewer - 1, total)
    weights = np.exp(_log_choices(before, fewer - 1) - _log_choices(np.array(total), fewer))
    return float(np.clip(weights @ ordered[fewer - 1 :], ordered[0], ordered[-1]))


def _log_choices(total: np.ndarray, chosen: int) -> np.ndarray:
    from scipy import special

    return special.gammaln(total + 1) - special.gammaln(chosen + 1) - special.gammaln(total - chosen + 1)


def interquartile_mean(values: Sequence[float] | np.ndarray) -> float:
    """Returns the mean of the middle half: a quarter of the members is left out at each end.

    >>> interquartile_mean([0.0, 1.0, 2.0, 100.0])
    1.5
    """
    from scipy import stats

    return float(stats.trim_mean(np.asarray(values, float), 0.25))


@dataclass(frozen=True)
class Spread:
    """Statistics of the members of one table cell.

    - `std`: of these members, not an estimate for the population.
    - `interval`: of the mean, by bootstrap; `None` for fewer than two members.
    - `expected_best`: by number of members, for all of `FEWER` below `members`.
    - `solved`: the share of members that reach the threshold; `None` if there is no threshold.
    """

    members: int
    best: float
    mean: float
    std: float
    interquartile_mean: float
    interval: Interval | None
    expected_best: Mapping[int, float]
    solved: Share | None


def spread(values: Sequence[float], is_solved: Callable[[float], bool] | None = None) -> Spread:
    """Returns all statistics of these values; larger values are better.

    >>> summary = spread([40.0, 100.0], lambda value: value >= 90)
    >>> summary.best, summary.members, summary.solved.count, summary.expected_best
    (100.0, 2, 1, {1: 70.0})
    """
    array = np.asarray(values, float)
    if len(array) == 0 or not np.isfinite(array).all():
        raise ValueError(f"Values must be finite and at least one, not {list(values)}.")
    ordered = np.sort(array)  # sorting it again is fast
    return Spread(
        members=len(array),
        best=float(array.max()),
        mean=float(array.mean()),
        std=float(array.std()),
        interquartile_mean=interquartile_mean(array),
        interval=bootstrap(array),
        expected_best={fewer: expected_best(ordered, fewer) for fewer in FEWER if fewer < len(array)},
        solved=None if is_solved is None else share(sum(map(is_solved, array.tolist())), len(array)),
    )


@dataclass(frozen=True)
class Difference:
    """Difference of the means of two sets of members: `mean` is first minus second, `p` two-sided by permutation."""

    mean: float
    p: float


def difference(first: Sequence[float], second: Sequence[float]) -> Difference:
    """Compares the members of two models by an unpaired permutation test.

    It uses all permutations if there are fewer than `RESAMPLES`, otherwise that many random ones.

    >>> difference([1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0]).p
    0.02857142857142857
    """
    from scipy import stats

    left, right = np.asarray(first, float), np.asarray(second, float)
    if not len(left) or not len(right):
        raise ValueError("A difference needs members of both models.")
    if np.ptp(np.concatenate([left, right])) == 0:
        return Difference(0.0, 1.0)
    result = stats.permutation_test(
        (left, right),
        lambda x, y, axis: np.mean(x, axis) - np.mean(y, axis),
        permutation_type="independent",
        n_resamples=RESAMPLES,
        vectorized=True,
        rng=np.random.default_rng(RANDOM_SEED),
    )
    return Difference(float(result.statistic), float(result.pvalue))
