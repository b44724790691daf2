"""Statistics that several suites need. SciPy does the work."""

from dataclasses import dataclass

from scipy import stats


@dataclass(frozen=True)
class Share:
    """`count` of `total`, with the Wilson interval of the share."""

    count: int
    total: int
    low: float
    high: float


def share(count: int, total: int, confidence: float = 0.95) -> Share:
    """The share of members that do something, and how sure one can be of it.

    >>> part = share(3, 20)
    >>> round(part.low, 3), round(part.high, 3)
    (0.052, 0.36)
    """
    interval = stats.binomtest(count, total).proportion_ci(confidence, method="wilson")
    return Share(count, total, float(interval.low), float(interval.high))
