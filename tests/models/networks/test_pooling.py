"""One vector for a whole string."""

import jax.numpy as jnp

from humboldt.models.networks.pooling import at_every_step, at_last, mean_of_real

VALUES = jnp.arange(8.0).reshape(4, 2)
TWO, ALL = jnp.array([True, True, False, False]), jnp.ones(4, bool)


def test_the_last_real_row():
    assert at_last(VALUES, TWO).tolist() == [2.0, 3.0]
    assert at_last(VALUES, ALL).tolist() == [6.0, 7.0]


def test_the_mean_of_the_real_rows():
    assert mean_of_real(VALUES, TWO).tolist() == [1.0, 2.0]
    assert mean_of_real(VALUES, ALL).tolist() == [3.0, 4.0]


def test_the_same_answer_at_every_step():
    assert at_every_step(jnp.array([5.0, 6.0]), TWO).tolist() == [[5.0, 6.0]] * 4
