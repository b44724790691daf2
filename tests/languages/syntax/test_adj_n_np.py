"""Negatives of Adjⁿ NP: k ~ U(1, length - 1) adjectives become noun phrases."""

import numpy as np

from .helpers import make


def test_negatives_as_defined():
    task = make("adj_n_np", terminals=5)
    rng = np.random.default_rng(0)
    lengths = rng.integers(2, 31, 4000)
    good = task.positives(rng, lengths)
    bad, bad_lengths = task.negatives(rng, good, lengths, (2, 30))
    np.testing.assert_array_equal(bad_lengths, lengths)
    changed = good // 5 != bad // 5
    assert (bad[changed] // 5 == 1).all()
    np.testing.assert_array_equal(good[~changed], bad[~changed])
    assert ((changed.sum(1) >= 1) & (changed.sum(1) <= lengths - 1)).all()


def test_the_number_of_replaced_adjectives_is_uniform_and_so_is_their_place():
    task = make("adj_n_np", terminals=2)
    rng = np.random.default_rng(0)
    lengths = np.full(9000, 7)
    good = task.positives(rng, lengths)
    changed = good // 2 != task.negatives(rng, good, lengths, (4, 30))[0] // 2
    counts = np.bincount(changed.sum(1), minlength=8)
    assert counts[0] == counts[7] == 0
    np.testing.assert_allclose(counts[1:7], 1500, atol=180)  # five deviations
    np.testing.assert_allclose(changed[:, :6].mean(0), 3.5 / 6, atol=0.03)
    assert not changed[:, 6].any()
