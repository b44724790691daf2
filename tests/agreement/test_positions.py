"""Biases of attention scores against frozen values of released code; see `make_positions.py`."""

from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.models.layers.positions_bias import Fire, Kerple, t5_buckets
from humboldt.models.layers.positions_context import ContextualPositions

FROZEN = np.load(Path(__file__).parent / "frozen/positions.npz")
HEADS, TIME = FROZEN["scores"].shape[1:3]
PLACES = jnp.arange(TIME)
CAUSAL = np.tri(TIME, dtype=bool)


def agree(found: jax.Array, name: str) -> None:
    np.testing.assert_allclose(np.asarray(found)[:, CAUSAL], FROZEN[name][0][:, CAUSAL], atol=2e-5)


def test_fire():
    fire = Fire(HEADS, threshold=10.0, key=jax.random.key(0))
    weights = [FROZEN[f"fire.{name}"] for name in ("0.weight", "0.bias", "2.weight", "2.bias")]
    weights = [jnp.array(weight.T) for weight in weights]
    where = lambda f: (f.inner.weight, f.inner.bias, f.outer.weight, f.outer.bias, f.rate, f.threshold_factor)  # noqa: E731
    fire = eqx.tree_at(where, fire, (*weights, jnp.array(0.3125), jnp.array(1.25)))
    agree(fire(PLACES, PLACES), "fire")


def test_kerple():
    values = tuple(jnp.array(FROZEN[f"kerple.{name}"].ravel()) for name in ("scale", "rate"))
    assert min(value.min() for value in values) < 0.01  # the bound is at work
    kerple = eqx.tree_at(lambda k: (k.scale, k.rate), Kerple(HEADS, key=jax.random.key(0)), values)
    agree(kerple(PLACES, PLACES), "kerple")


def test_cope():
    weight = jnp.array(FROZEN["cope.weight"][0].T)
    cope = eqx.tree_at(lambda c: c.weight, ContextualPositions(weight.shape[1], num_positions=len(weight)), weight)
    queries = jnp.swapaxes(jnp.array(FROZEN["queries"][0]), 0, 1)
    agree(cope(queries, jnp.array(FROZEN["scores"][0]), jnp.array(CAUSAL)), "cope")


@pytest.mark.parametrize(("name", "both_sides"), [("left", False), ("both", True)])
def test_t5_buckets(name: str, both_sides: bool):
    """`transformers` counts from the query to the key, so that its distances have the other sign."""
    found = t5_buckets(-jnp.arange(-400, 401)[None], both_sides=both_sides)
    np.testing.assert_array_equal(found[0], FROZEN[f"t5.{name}"])
