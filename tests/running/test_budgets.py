"""Sizes of families by their parameters."""

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest
from jaxtyping import Array

from humboldt.errors import UsageError
from humboldt.models import models
from humboldt.models.networks.multiply_adds import multiply_adds
from humboldt.running.budgets import size_for, size_of, size_of_settings


def test_the_body_of_an_lstm_is_counted_by_hand():
    assert size_of("family/lstm", {"hidden_size": 64}).body == 4 * 64 * (64 + 64) + 2 * 4 * 64
    assert size_of("family/lstm").state_floats == 2 * 64
    assert size_of("family/transformer", {"layers": 3, "width": 8}).state_floats == 3 * 2 * 40 * 8


@pytest.mark.parametrize("name", ["family/lstm", "family/transformer"])
def test_the_nearest_size_is_found(name: str):
    goal = 33_280
    found = size_for(name, goal)
    assert abs(size_of(name, found).body - goal) <= 0.05 * goal


def test_no_other_size_is_nearer():
    distances = {size: abs(size_of("family/gru", {"hidden_size": size}).body - 20_300) for size in range(54, 62)}
    nearest = min(distances, key=lambda size: distances[size])
    assert size_for("family/gru", 20_300) == {"hidden_size": nearest} and 54 < nearest < 61


def test_what_is_no_family_has_no_size():
    with pytest.raises(UsageError, match="is not a family"):
        size_for("lstm", 1000)


def test_multiply_adds_of_an_lstm_are_counted_by_hand():
    hidden, tokens, outputs = 64, 4, 4
    each = tokens * hidden + 2 * 4 * hidden * hidden + hidden * outputs  # embedding, gates, readout
    size = size_of_settings(models.get("family/lstm")(), with_products=True)
    assert size.multiply_adds == {40: 40 * each, 500: 500 * each}
    assert size_of("family/lstm").multiply_adds == {}


class Attends(eqx.Module):
    """A network with one product that grows with the square of the length, and a loop that ends by a condition."""

    loops: bool = eqx.field(static=True)

    def __call__(self, tokens: Array, mask: Array) -> Array:
        rows = jnp.where(mask[:, None], jax.nn.one_hot(tokens, 3), 0)
        rows = (rows @ rows.T) @ rows
        if self.loops:
            rows = jax.lax.while_loop(lambda rows: rows.sum() < 9, lambda rows: rows @ jnp.ones((3, 3)), rows)
        return jax.lax.cond(rows.sum() > 0, lambda: rows, lambda: rows @ jnp.ones((3, 3)))


def test_multiply_adds_of_products_branches_and_unknown_loops():
    assert multiply_adds(Attends(loops=False), 10) == 2 * 10 * 10 * 3 + 10 * 3 * 3
    assert multiply_adds(Attends(loops=True), 10) is None
