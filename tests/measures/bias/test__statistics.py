"""SciPy's answers against formulas, and the cases where SciPy has none."""

import math

import numpy as np
import pytest
from scipy import stats

from humboldt.measures.bias._statistics import bootstrap, fisher, paired_test, wilson


@pytest.mark.parametrize(("count", "total"), [(0, 100), (7, 100), (70, 100), (100, 100), (4, 21)])
def test_wilson_by_its_formula(count: int, total: int):
    z, share = 1.959963984540054, count / total
    middle = (share + z**2 / (2 * total)) / (1 + z**2 / total)
    half = z / (1 + z**2 / total) * math.sqrt(share * (1 - share) / total + z**2 / (4 * total**2))
    interval = wilson(count, total)
    assert interval is not None
    assert interval.low == pytest.approx(max(middle - half, 0), abs=1e-12)
    assert interval.high == pytest.approx(min(middle + half, 1), abs=1e-12)


def test_nothing_counted_has_no_interval():
    assert wilson(0, 0) is None


def test_bootstrap_by_resampling():
    values = np.random.default_rng(3).exponential(10, size=100)
    rng = np.random.default_rng(4)
    means = np.sort([rng.choice(values, 100).mean() for _ in range(4_000)])
    interval = bootstrap(values)
    assert interval is not None
    assert interval.low == pytest.approx(means[100], rel=0.03) and interval.high == pytest.approx(
        means[3_900], rel=0.03
    )
    narrow = bootstrap(values, 0.5)
    assert narrow is not None and interval.low < narrow.low < narrow.high < interval.high
    assert bootstrap(values) == interval, "no hidden randomness"


def test_bootstrap_of_equal_few_or_infinite_values():
    interval = bootstrap([0.0] * 10)
    assert interval is not None and (interval.low, interval.high) == (0.0, 0.0)
    assert bootstrap([1.0]) is None and bootstrap([1.0, math.inf]) is None


def test_paired_test_by_its_formula():
    rng = np.random.default_rng(5)
    left, right = rng.normal(size=12), rng.normal(size=12) + 0.3
    differences = left - right
    t = differences.mean() / (differences.std(ddof=1) / math.sqrt(12))
    difference, p = paired_test(left, right)
    assert difference == pytest.approx(differences.mean())
    assert p == pytest.approx(2 * stats.t.sf(abs(t), 11))


def test_paired_test_where_all_differences_are_equal():
    values = np.array([0.1, 0.7, 123.4])
    assert paired_test(values, values) == (0.0, 1.0)
    difference, p = paired_test(values + 2.0, values)
    assert difference == pytest.approx(2.0) and p == 0.0


def test_fisher_counts_what_a_rounded_share_stands_for():
    assert fisher(100, 100, 1.00, 100) == 1.0
    # all ways to give 7 successes to 41 members, those as unlikely as 3 of our 20 or more so: 0.19 is 4 of 21
    ways = [math.comb(20, k) * math.comb(21, 7 - k) for k in range(8)]
    assert fisher(3, 20, 0.19, 21) == pytest.approx(sum(n for n in ways if n <= ways[3]) / math.comb(41, 7))
    ways = [math.comb(100, k) * math.comb(100, 7 - k) for k in range(8)]
    assert fisher(0, 100, 0.07, 100) == pytest.approx((ways[0] + ways[7]) / math.comb(200, 7))
