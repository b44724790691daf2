"""Welch's test of the difference of two models, given a few runs of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from humboldt.errors import UsageError


@dataclass(frozen=True)
class WelchTest:
    """Welch's t-test of two means, which does not assume equal variances.

    - `p`: the probability, if the means are equal, of a difference at least as large in either direction.
    - `p_one_sided`: the same in the observed direction, as computed by the released script.
    """

    statistic: float
    degrees_of_freedom: float
    p: float
    n: tuple[int, int]

    @property
    def p_one_sided(self) -> float:
        """Half of `p`."""
        return self.p / 2


def welch_test(first: Sequence[float], second: Sequence[float]) -> WelchTest:
    """Compares the scores of two models, one score for each run.

    >>> test = welch_test([0.79, 0.80, 0.78], [0.92, 0.91, 0.93])
    >>> round(test.statistic, 2), round(test.degrees_of_freedom, 1), test.p < 1e-3
    (-15.92, 4.0, True)
    """
    from scipy import stats  # slow to import, and used only here

    if min(len(first), len(second)) < 2:
        raise UsageError(
            f"Welch's test needs at least two scores of each model, not {len(first)} and {len(second)}: from one score "
            "the spread cannot be estimated. Train more seeds."
        )
    if np.var(first) == np.var(second) == 0:
        raise UsageError("All scores of each model are the same, so the spread is zero and the test is not defined.")
    result: Any = stats.ttest_ind(first, second, equal_var=False)  # SciPy's types lack its fields
    return WelchTest(float(result.statistic), float(result.df), float(result.pvalue), (len(first), len(second)))
