"""The B-index: the largest factor by which training can shrink and the test grow so that a model still succeeds."""

from collections.abc import Mapping
from dataclasses import dataclass

from humboldt.errors import UsageError

FACTORS = (1, 2, 4, 10)  # section 5.2: |C| = 1000, 500, 250, 100
ORDER = 3  # section 5.3


@dataclass(frozen=True)
class Sizes:
    """The number of training strings, |C|, and of test strings, |T|."""

    train: int
    test: int


def sizes(factor: int, order: int = ORDER) -> Sizes:
    """Returns |C| = 10^N / b and |T| = 10^N · b, for a factor b and an order N.

    >>> sizes(4)
    Sizes(train=250, test=4000)
    """
    if factor < 1 or order < 0 or 10**order < factor:
        raise UsageError(
            f"Factor {factor} at order {order} leaves no training string of 10^{order}. Use a factor from 1 to 10^N."
        )
    return Sizes(train=round(10**order / factor), test=10**order * factor)


@dataclass(frozen=True)
class BIndex:
    """The largest factor at which a criterion was met, if any.

    - `value`: that factor; 0 if there is none.
    - `smallest`: the smallest factor that was tried: if `value` is 0, the index is below it.

    >>> str(b_index({1: True, 2: True, 4: False})), str(b_index({1: False, 10: False}))
    ('2', '<1')
    """

    value: int
    smallest: int

    @property
    def is_below(self) -> bool:
        """Whether the criterion was met at no factor."""
        return self.value == 0

    def __str__(self) -> str:
        return f"<{self.smallest}" if self.is_below else str(self.value)


def b_index(met: Mapping[int, bool]) -> BIndex:
    """Returns B = max { b : M(A, T, ε) = 1, |T| = 10^N · b, |C| = 10^N / b }, equation (1), over the given factors b.

    **Arguments:**

    - `met`: for each factor, whether a model trained on that |C| met the criterion on that |T|.
    """
    if not met:
        raise UsageError("No factor was tried, so there is no B-index. The paper tries 1, 2, 4 and 10.")
    return BIndex(max((factor for factor, success in met.items() if success), default=0), min(met))
