import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from humboldt.measures import statistics
from humboldt.measures.statistics import (
    RESAMPLES,
    bootstrap,
    difference,
    expected_best,
    interquartile_mean,
    share,
    spread,
    wilson,
)

VALUES = st.lists(st.floats(-100, 100), min_size=1, max_size=8)


@given(VALUES, st.data())
def test_the_expected_best_is_the_mean_over_all_choices(values: list[float], data: st.DataObject):
    fewer = data.draw(st.integers(1, len(values)))
    by_hand = np.mean([max(choice) for choice in itertools.combinations(values, fewer)])
    assert expected_best(values, fewer) == pytest.approx(by_hand, abs=1e-9)


def test_the_expected_best_is_unbiased():
    """What 5 of 30 draws say of the best of 5 is, on average over studies, the best of 5."""
    rng = np.random.default_rng(0)
    studies = rng.random((4000, 30))  # the best of 5 uniform numbers is 5/6 on average
    found = np.mean([expected_best(study.tolist(), 5) for study in studies])
    assert found == pytest.approx(5 / 6, abs=3e-3)


def test_the_expected_best_does_not_overflow_for_many_members():
    values = np.linspace(0, 1, 5000).tolist()
    assert expected_best(values, 2500) == pytest.approx(2500 / 2501, abs=1e-3)  # as of uniform numbers
    assert expected_best(values, 5000) == 1


def test_more_members_than_there_are_have_no_expected_best():
    with pytest.raises(ValueError, match="The best of 3 of 2 members: give a number from 1 to 2"):
        expected_best([1.0, 2.0], 3)


def test_wilson_by_its_formula():
    count, total, z = 7, 30, stats.norm.ppf(0.975)
    p = count / total
    centre = (p + z**2 / (2 * total)) / (1 + z**2 / total)
    half = z / (1 + z**2 / total) * math.sqrt(p * (1 - p) / total + z**2 / (4 * total**2))
    found = share(count, total)
    assert (found.low, found.high) == pytest.approx((centre - half, centre + half))
    assert wilson(0, 0) is None
    with pytest.raises(ValueError, match="at least one member"):
        share(0, 0)


def test_the_bootstrap_interval_covers_the_mean_as_often_as_it_says():
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(200):
        interval = bootstrap(rng.normal(size=40), 0.9)
        assert interval is not None
        covered += interval.low <= 0 <= interval.high
    assert 165 <= covered <= 195  # 180, give or take three deviations
    assert bootstrap([1.0]) is None
    assert bootstrap([1.0, math.inf]) is None


def test_the_interquartile_mean_leaves_out_a_quarter_at_each_end():
    values = [0.0, 0.0, 3.0, 5.0, 7.0, 9.0, 100.0, 1000.0]
    assert interquartile_mean(values) == 6
    assert interquartile_mean([4.0]) == 4


def test_a_difference_is_that_of_all_permutations():
    first, second = [1.0, 2.0, 4.0], [0.0, 0.5]
    found = difference(first, second)
    everyone = [*first, *second]
    apart = []
    for chosen in itertools.combinations(range(5), 3):
        rest = [everyone[i] for i in range(5) if i not in chosen]
        apart.append(np.mean([everyone[i] for i in chosen]) - np.mean(rest))
    one_sided = [np.mean(np.array(apart) >= found.mean - 1e-9), np.mean(np.array(apart) <= found.mean + 1e-9)]
    assert found.mean == pytest.approx(np.mean(first) - np.mean(second))
    assert found.p == pytest.approx(min(1, 2 * min(one_sided)))
    assert difference([1.0, 1.0], [1.0]).p == 1
    with pytest.raises(ValueError, match="members of both models"):
        difference([], [1.0])


def test_a_spread_counts_what_is_solved_and_tells_fewer_only():
    found = spread([10.0] * 5 + [95.0], lambda value: value >= 90)
    assert found.solved is not None
    assert (found.solved.count, found.solved.total) == (1, 6)
    assert list(found.expected_best) == [1, 2, 5]
    assert found.expected_best[1] == pytest.approx(found.mean)
    assert found.best == 95
    assert spread([1.0]).interval is None
    with pytest.raises(ValueError, match="finite and at least one"):
        spread([])
    with pytest.raises(ValueError, match="finite and at least one"):
        spread([math.nan])


@pytest.mark.parametrize("size", [2, 7, 100, 333, 1_500])
def test_resamples_in_turn_give_the_bits_of_all_at_once(size: int):
    values = np.random.default_rng(size).random(size)
    at_once = stats.bootstrap(
        (values,), np.mean, n_resamples=RESAMPLES, method="percentile", rng=np.random.default_rng(0)
    ).confidence_interval
    assert statistics.NUMBERS_AT_ONCE // size < RESAMPLES or size < 101  # that it is done in turn
    interval = bootstrap(values)
    assert interval is not None and (interval.low, interval.high) == (at_once.low, at_once.high)


def test_the_interval_of_many_values_is_close_to_that_of_resamples(monkeypatch: pytest.MonkeyPatch):
    """A skewed sample just below and above the number at which the form changes: the ends differ by less than three
    hundredths of the interval, as they do between two seeds of the bootstrap."""
    values = np.random.default_rng(0).exponential(size=4_000)
    resampled = bootstrap(values)
    monkeypatch.setattr(statistics, "MOST_RESAMPLED", 3_999)
    normal = bootstrap(values)
    assert resampled is not None and normal is not None
    width = resampled.high - resampled.low
    assert normal != resampled
    assert abs(normal.low - resampled.low) < 0.03 * width and abs(normal.high - resampled.high) < 0.03 * width
    same = bootstrap(np.ones(4_000))
    assert same is not None and (same.low, same.high) == (1.0, 1.0)
