import numpy as np
import pytest

from humboldt.measures.accuracy import LengthCurve, LengthTally, accuracy_per_length, score, summarise


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
