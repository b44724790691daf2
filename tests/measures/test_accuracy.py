import numpy as np
import pytest

from humboldt.measures.accuracy import LengthCurve, LengthTally, accuracy_per_length, score, score_interval, summarise


def test_by_hand():
    curve = accuracy_per_length(np.array([1, 2, 0, 3]), np.array([2, 2, 1, 3]), np.array([41, 41, 42, 500]))
    assert curve == LengthCurve((41, 42, 500), (0.75, 0.0, 1.0), (2, 1, 1))
    assert score(curve, 41, 500) == pytest.approx(1.75 / 3)


def test_the_first_scored_length_is_41_and_the_last_is_500():
    lengths = tuple(range(1, 601))
    only = {n: LengthCurve(lengths, tuple(float(x == n) for x in lengths), (1,) * 600) for n in (40, 41, 500, 501)}
    assert {n: score(curve, 41, 500) > 0 for n, curve in only.items()} == {40: False, 41: True, 500: True, 501: False}
    assert score(only[41], 41, 500) == pytest.approx(1 / 460)


def test_a_length_counts_once_however_many_strings_it_has():
    curve = accuracy_per_length(np.array([1] * 9 + [0]), np.ones(10), np.array([41] * 9 + [42]))
    assert score(curve, 41, 500) == 0.5


def test_pooled_over_the_symbols_of_a_length():
    correct, counted, lengths = np.array([0, 6, 1]), np.array([2, 6, 2]), np.array([41, 41, 42])
    assert accuracy_per_length(correct, counted, lengths, pooled=True).accuracy == (0.75, 0.5)
    assert accuracy_per_length(correct, counted, lengths).accuracy == (0.5, 0.5)


def test_the_perfect_and_the_guessing_learner():
    rng = np.random.default_rng(0)
    lengths = np.repeat(np.arange(41, 501), 64)
    ones = np.ones(len(lengths))
    assert score(accuracy_per_length(ones, ones, lengths), 41, 500) == 1.0
    guesses = rng.integers(0, 5, len(lengths)) == 0
    assert score(accuracy_per_length(guesses, ones, lengths), 41, 500) == pytest.approx(0.2, abs=0.01)


def test_nothing_to_score_is_an_error():
    with pytest.raises(ValueError, match="No length"):
        score(LengthCurve((1,), (1.0,), (1,)), 41, 500)
    with pytest.raises(ValueError):
        accuracy_per_length(np.ones(2), np.ones(3), np.ones(3))


def test_summary():
    summary = summarise([0.5, 1.0])
    assert (summary.max, summary.mean, summary.std, summary.members) == (1.0, 0.75, 0.25, 2)
    for bad in ([], [float("nan")]):
        with pytest.raises(ValueError):
            summarise(bad)


@pytest.mark.parametrize("pooled", [False, True])
def test_a_tally_has_the_same_bits_as_all_strings_at_once(pooled: bool):
    rng = np.random.default_rng(0)
    lengths = np.repeat(np.arange(41, 61), 37)
    counted = rng.integers(1, 60, len(lengths))
    correct = rng.integers(0, counted + 1, (3, len(lengths)))
    tally = LengthTally(range(41, 61), 3, pooled=pooled)
    for begin in range(0, len(lengths), 50):
        part = slice(begin, begin + 50)
        tally.add(correct[:, part], counted[part], lengths[part])
    assert tally.curves() == [accuracy_per_length(row, counted, lengths, pooled=pooled) for row in correct]
    shares = (correct / counted).reshape(3, 20, 37)
    expected = np.sqrt((shares.var(2, ddof=1) / 37).sum(1)) / 20
    np.testing.assert_allclose(tally.standard_errors(), expected, rtol=1e-10)


def test_a_perfect_score_has_an_interval_that_depends_on_how_many_strings_there_are():
    """8 of 8 could as well be a share of 0.68 (Wilson)."""
    low, high = score_interval([np.ones(4), np.ones(4)])
    assert low == pytest.approx(0.6756, abs=1e-4) and high == 1.0
    assert score_interval([np.ones(64)] * 24)[0] == pytest.approx(0.9975, abs=1e-4)
    assert score_interval([np.zeros(4), np.zeros(4)]) == pytest.approx((0.0, 1 - low))
    low, high = score_interval([np.ones(1), np.zeros(1)])  # one string a length: drawing again shows nothing
    assert low < 0.5 < high


def test_the_interval_of_a_score_is_that_of_drawing_strings_again_within_their_length():
    """Nearly that of the standard error where strings are many; the same for the same strings."""
    rng = np.random.default_rng(0)
    shares = [rng.beta(4, 1, 64) for _ in range(10)]
    error = np.sqrt(sum(row.var(ddof=1) / 64 for row in shares)) / 10
    low, high = score_interval(shares)
    mean = np.mean([row.mean() for row in shares])
    assert (low, high) == pytest.approx((mean - 1.96 * error, mean + 1.96 * error), abs=error / 4)
    assert score_interval(shares) == (low, high)
    # Shares that differ between lengths alone leave nothing to chance but what the lengths' own strings do.
    apart = score_interval([np.r_[np.ones(50), 0.9], np.r_[np.zeros(50), 0.1]])
    assert apart[1] - apart[0] < 0.01


def test_a_tally_keeps_shares_for_intervals_if_it_is_told_to():
    rng = np.random.default_rng(1)
    lengths, counted = np.tile([41, 42], 30), np.full(60, 8)
    correct = rng.integers(0, 9, (2, 60))
    tally = LengthTally([41, 42], 2, keeps_shares=True)
    for part in (slice(0, 25), slice(25, 60)):
        tally.add(correct[:, part], counted[part], lengths[part])
    assert tally.intervals() == [score_interval([row[lengths == length] / 8 for length in (41, 42)]) for row in correct]
    with pytest.raises(ValueError, match="keeps_shares"):
        LengthTally([41], 1).intervals()
