"""Negatives of the two languages with agreement: k ~ U(1, length / 2) verbs get another class."""

import numpy as np
import pytest

from ..helpers import decode, make

NAMES = ("nested_dependency", "cross_serial_dependency")


@pytest.mark.parametrize("name", NAMES)
def test_negatives_as_defined(name):
    task = make(name, terminals=5)
    rng = np.random.default_rng(0)
    lengths = 2 * rng.integers(1, 16, 4000)
    good = task.positives(rng, lengths)
    bad, bad_lengths = task.negatives(rng, good, lengths, (2, 30))
    np.testing.assert_array_equal(bad_lengths, lengths)
    changed = good // 5 != bad // 5
    assert (bad[changed] // 5 >= 5).all() and (good[changed] // 5 >= 5).all()  # verbs stay verbs
    np.testing.assert_array_equal(good[~changed], bad[~changed])
    assert ((changed.sum(1) >= 1) & (changed.sum(1) <= lengths // 2)).all()


@pytest.mark.parametrize("name", NAMES)
def test_how_many_where_and_to_what_is_uniform(name):
    task = make(name, terminals=1)
    rng = np.random.default_rng(0)
    lengths = np.full(10_000, 10)
    good = task.positives(rng, lengths)
    bad, _ = task.negatives(rng, good, lengths, (4, 30))
    changed = good != bad
    np.testing.assert_allclose(np.bincount(changed.sum(1), minlength=6)[1:], 2000, atol=200)
    np.testing.assert_allclose(changed[:, 5:].mean(0), 0.6, atol=0.025)
    np.testing.assert_allclose(np.bincount((bad - good)[changed] % 5, minlength=5)[1:], changed.sum() / 4, rtol=0.06)


def test_the_order_of_agreement():
    for name, order in (("nested_dependency", -1), ("cross_serial_dependency", 1)):
        task = make(name, terminals=1)
        for string in decode(task, task.positives(np.random.default_rng(2), np.full(50, 12)), np.full(50, 12)):
            nouns, verbs = [symbol[2] for symbol in string[:6]], [symbol[2] for symbol in string[6:]]
            assert verbs == nouns[::order]
