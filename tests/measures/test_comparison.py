"""Comparisons of models over tasks: ranks, the nearest model, intervals."""

import itertools
from statistics import mean

import numpy as np
import pytest

from humboldt.measures import comparison

GOOD = {"a": [1.0, 0.9, 1.0, 0.95, 1.0], "b": [0.8, 0.9, 0.85, 0.8, 0.9]}
BAD = {"a": [0.1, 0.2, 0.1, 0.0, 0.1], "b": [0.0, 0.1, 0.0, 0.1, 0.05]}


def test_a_better_model_has_the_better_rank():
    above, below = comparison.rank(GOOD, {"bad": BAD}), comparison.rank(BAD, {"good": GOOD})
    assert above is not None and below is not None
    assert (above.place, above.tied) == (1, ()) and (below.place, below.tied) == (2, ())


def test_models_that_cannot_be_told_apart_share_a_rank():
    result = comparison.rank(GOOD, {"same": GOOD, "bad": BAD})
    assert result is not None and (result.place, result.tied) == (1, ("same",))


def test_a_single_member_is_not_ranked():
    assert comparison.rank({"a": [1.0]}, {"bad": BAD}) is None
    assert comparison.rank(GOOD, {"alone": {"a": [1.0]}}) is None


def test_p_equals_that_of_all_permutations():
    """Two tasks with three members each: the exact share of pairs of splits that are as extreme."""
    first, second = {"a": [0.9, 0.7, 0.8], "b": [0.5, 0.6, 0.9]}, {"a": [0.2, 0.8, 0.1], "b": [0.4, 0.5, 0.3]}

    def differences(task: str) -> list[float]:
        both = [*first[task], *second[task]]
        splits = itertools.combinations(range(6), 3)
        return [mean([both[i] for i in s]) - mean([both[i] for i in range(6) if i not in s]) for s in splits]

    observed = sum(mean(first[task]) - mean(second[task]) for task in first)
    sums = [x + y for x in differences("a") for y in differences("b")]
    exact = mean([abs(value) >= abs(observed) - 1e-12 for value in sums])
    assert comparison.difference_p(first, second)[1] == pytest.approx(exact, abs=0.012)


def test_tests_of_equal_models_are_rarely_significant():
    rng = np.random.default_rng(1)
    rejected = 0
    for _ in range(60):
        first, second = ({task: rng.normal(size=5).tolist() for task in "abc"} for _ in range(2))
        rejected += comparison.difference_p(first, second)[1] < 0.05
    assert rejected <= 9  # 3 are expected; more than 9 have a probability of 0.2%


def test_the_nearest_model_is_named_only_if_it_is_nearest_nearly_always():
    assert comparison.nearest(GOOD, {"same": GOOD, "bad": BAD}) == ("same",)
    twins = comparison.nearest(GOOD, {"one": GOOD, "other": GOOD, "bad": BAD})
    assert set(twins) == {"one", "other"}
    assert comparison.nearest(GOOD, {}) == ()


def test_the_mean_over_tasks_has_an_interval_of_members():
    mean, interval = comparison.mean_over_tasks(GOOD)
    assert mean == pytest.approx((0.97 + 0.85) / 2) and interval is not None and interval.low < mean < interval.high
    assert comparison.mean_over_tasks({"a": [1.0], "b": [0.5, 0.6]})[1] is None
    with pytest.raises(ValueError, match="needs a member"):
        comparison.mean_over_tasks({})
