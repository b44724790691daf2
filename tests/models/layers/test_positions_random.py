"""Randomised positions: a sorted subset, whatever the padding."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.errors import UsageError
from humboldt.models.layers.positions_random import draw_places


def test_places_are_a_sorted_subset_with_other_places_for_every_key():
    drawn = [np.asarray(draw_places(20, 20, 64, key=jax.random.key(seed))) for seed in range(3)]
    for places in drawn:
        assert np.all(np.diff(places) > 0) and places[0] >= 0 and places[-1] < 64
    assert not np.array_equal(drawn[0], drawn[1])


def test_padding_changes_no_place():
    short, long = draw_places(5, 5, 64), draw_places(jnp.array(5), 30, 64)
    assert np.array_equal(short, long[:5])
    assert np.all(np.asarray(long[5:]) == 63)


def test_all_places_are_equally_likely():
    keys = jax.random.split(jax.random.key(0), 4000)
    drawn = jax.vmap(lambda key: draw_places(3, 3, 8, key=key))(keys)
    counts = np.bincount(np.asarray(drawn).ravel(), minlength=8)
    assert np.all(np.abs(counts - 1500) < 6 * np.sqrt(4000 * 3 / 8 * 5 / 8))


def test_without_a_key_the_places_depend_on_the_length_alone():
    assert np.array_equal(draw_places(6, 6, 64), draw_places(6, 6, 64))
    assert not np.array_equal(draw_places(6, 6, 64), draw_places(7, 7, 64)[:6])


def test_a_string_needs_as_many_places():
    with pytest.raises(UsageError, match=r"9 tokens needs as many places, but num_places=8"):
        draw_places(9, 9, 8)


def test_padding_needs_no_places():
    """Tests pad strings to a multiple of 128, whatever the number of places."""
    assert draw_places(8, 20, 8).tolist() == [*range(8), *[7] * 12]
