"""Negatives of NPⁿ VPⁿ: another number of verb phrases, the length still in the range of the split."""

import numpy as np
import pytest

from humboldt.errors import UsageError

from .helpers import make


@pytest.mark.parametrize("within", [(4, 30), (31, 100), (4, 5), (5, 6)])
def test_negatives_as_defined(within):
    task = make("np_n_vp_n", terminals=5)
    rng = np.random.default_rng(0)
    lengths = rng.choice(task.lengths_between(*within), 2000)
    good = task.positives(rng, lengths)
    bad, bad_lengths = task.negatives(rng, good, lengths, within)
    nouns = lengths // 2
    verbs = bad_lengths - nouns
    assert (verbs != nouns).all() and (verbs >= 0).all()
    assert bad_lengths.min() >= within[0] and bad_lengths.max() <= within[1]
    for before, after, old, new, noun in zip(good, bad, lengths, bad_lengths, nouns, strict=True):
        shared = min(old, new)
        np.testing.assert_array_equal(before[:shared], after[:shared])
        assert (after[:noun] // 5 == 0).all() and (after[noun:new] // 5 == 1).all()


def test_the_number_of_verbs_is_uniform():
    task = make("np_n_vp_n", terminals=2)
    rng = np.random.default_rng(0)
    lengths = np.full(9000, 6)
    _, bad_lengths = task.negatives(rng, task.positives(rng, lengths), lengths, (4, 12))
    counts = np.bincount(bad_lengths - 3, minlength=10)
    assert counts[0] == counts[3] == 0  # 3 nouns: 0 verbs are too short, 3 are grammatical
    np.testing.assert_allclose(counts[[1, 2, 4, 5, 6, 7, 8, 9]], 9000 / 8, atol=160)


def test_no_verbs_at_all_is_a_negative():
    task = make("np_n_vp_n")
    rng = np.random.default_rng(0)
    lengths = np.full(500, 8)
    _, bad_lengths = task.negatives(rng, task.positives(rng, lengths), lengths, (4, 8))
    assert bad_lengths.min() == 4


def test_a_single_length_leaves_no_negative():
    with pytest.raises(UsageError, match=r"holds one length only.* Use a range of two lengths or more"):
        make("np_n_vp_n").check_range((4, 4))
