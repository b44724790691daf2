"""Welch's test: against the textbook's formula."""

import numpy as np
import pytest
from scipy import integrate, special

from humboldt.errors import UsageError
from humboldt.measures.pcfg_set import welch_test


def test_by_the_formula():
    first, second = [0.79, 0.80, 0.77], [0.85, 0.86, 0.84, 0.85]
    a, b = np.var(first, ddof=1) / 3, np.var(second, ddof=1) / 4
    t = (np.mean(first) - np.mean(second)) / np.sqrt(a + b)
    freedom = (a + b) ** 2 / (a**2 / 2 + b**2 / 3)

    def density(x: float) -> float:
        scale = special.gamma((freedom + 1) / 2) / (np.sqrt(freedom * np.pi) * special.gamma(freedom / 2))
        return float(scale * (1 + x * x / freedom) ** (-(freedom + 1) / 2))

    tail, _ = integrate.quad(density, abs(t), np.inf)
    found = welch_test(first, second)
    assert found.statistic == pytest.approx(t) and found.degrees_of_freedom == pytest.approx(freedom)
    assert found.p == pytest.approx(2 * tail) and found.p_one_sided == pytest.approx(tail)
    assert found.n == (3, 4)


def test_the_order_changes_the_sign_only():
    first, second = welch_test([0.1, 0.3], [0.2, 0.5]), welch_test([0.2, 0.5], [0.1, 0.3])
    assert first.statistic == -second.statistic and first.p == second.p


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [([0.5], [0.4, 0.3], "at least two scores"), ([0.5, 0.5], [0.4, 0.4], "the spread is zero")],
)
def test_what_is_refused(first, second, text):
    with pytest.raises(UsageError, match=text):
        welch_test(first, second)
