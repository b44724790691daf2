"""Statistical tests of the `bias` suite, from SciPy; the intervals are shared by all suites."""

from dataclasses import dataclass

import numpy as np

from humboldt.measures.statistics import Interval as Interval
from humboldt.measures.statistics import bootstrap as bootstrap
from humboldt.measures.statistics import wilson as wilson


@dataclass(frozen=True)
class Comparison:
    """Paired t-test of two rules over seeds: the mean of `left` minus `right`, and the two-sided p-value.

    `p` is `None` for fewer than two seeds; both are `None` if a description length is infinite.
    """

    left: str
    right: str
    difference: float | None
    p: float | None


def paired_test(left: np.ndarray, right: np.ndarray) -> tuple[float | None, float | None]:
    """Returns the mean difference and the two-sided p-value of a paired t-test; `None` where not defined.

    If all differences are equal the statistic is not defined. Then p is its limit: 1 for differences of 0, else 0.
    """
    if not (np.isfinite(left).all() and np.isfinite(right).all()):
        return None, None
    differences = left - right
    mean = float(differences.mean())
    if len(differences) < 2:
        return mean, None
    if np.ptp(differences) <= 1e-12 * np.abs(differences).max():
        return mean, float(mean == 0)
    from scipy import stats  # slow to import

    return mean, float(stats.ttest_rel(left, right).pvalue)  # pyright: ignore[reportAttributeAccessIssue]


def fisher(count: int, total: int, published: float, published_total: int) -> float:
    """Returns the p-value of Fisher's exact test of our share against a published one, a rounded value of a table.

    The published count is the whole number nearest to `published` x `published_total`.

    >>> fisher(5, 100, 0.07, 100)
    0.767...
    """
    from scipy import stats  # slow to import

    theirs = round(published * published_total)
    table = [[count, total - count], [theirs, published_total - theirs]]
    return float(stats.fisher_exact(table).pvalue)  # pyright: ignore[reportAttributeAccessIssue]
