"""Blocks and backbones: the same at once and step by step, with values of the first layer handed on."""

import math
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

from humboldt.errors import UsageError
from humboldt.models.mixers.backbone import Backbone, backbone
from humboldt.models.mixers.base import fold
from humboldt.models.mixers.block import FeedForward, FeedForwardName, feed_forward_units

WIDTH = 8


def gelu(x: np.ndarray) -> np.ndarray:
    return np.array([0.5 * value * (1 + math.erf(value / math.sqrt(2))) for value in x])


def disturbed(names: str | Sequence[str], **settings: Any) -> Backbone:
    """Its parameters are random: many begin at zero, where a mistake would not show."""
    shapes = eqx.filter_eval_shape(
        lambda key: backbone(names, width=WIDTH, layers=2, heads=2, key=key, **settings), jax.random.key(0)
    )
    random = np.random.default_rng(0)
    return jax.tree.map(lambda leaf: jnp.asarray(random.normal(size=leaf.shape), leaf.dtype) / 2, shapes)


@pytest.mark.parametrize(
    ("names", "settings"), [("rwkv7", {}), (("mingru", "slstm"), {"feed_forward": "none"}), ("mingru", {"norm": "rms"})]
)
def test_all_at_once_is_step_by_step(names: str | Sequence[str], settings: dict[str, Any]):
    network = disturbed(names, **settings)
    xs = jax.random.normal(jax.random.key(1), (7, WIDTH))
    at_once, steps = eqx.filter_jit(lambda network, xs: (network(xs, jnp.ones(7, bool)), fold(network, xs)))(
        network, xs
    )
    np.testing.assert_allclose(at_once, steps, rtol=1e-5, atol=1e-5)


def test_a_block_adds_to_what_it_is_given():
    """With all weights at zero nothing is added, and only the last norm is left."""
    network = jax.tree.map(jnp.zeros_like, disturbed("mingru", positive=False))
    network = eqx.tree_at(lambda network: network.norm.norm.weight, network, jnp.ones((1, WIDTH)))
    xs = np.random.default_rng(1).normal(size=(3, WIDTH)).astype(np.float32)
    outputs = eqx.filter_jit(lambda network, xs: network(xs, jnp.ones(3, bool)))(network, jnp.asarray(xs))
    expected = xs / np.sqrt((xs**2).mean(-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(outputs, expected, rtol=1e-5)


@pytest.mark.parametrize(("name", "units"), [("gated", 21), ("gated_gelu", 11), ("plain", 32)])
def test_feed_forward_layers_against_their_formulas(name: FeedForwardName, units: int):
    assert feed_forward_units(WIDTH, name) == units
    x = np.random.default_rng(0).normal(size=WIDTH)
    made = eqx.filter_jit(lambda key: FeedForward(WIDTH, units, name, key=key))(jax.random.key(0))
    layer = jax.tree.map(lambda leaf: np.asarray(leaf, float), made)
    up = x @ layer.up.weight
    if name == "plain":
        expected = gelu(up)
    else:
        gate = x @ layer.gate.weight
        expected = (gelu(gate) if name == "gated_gelu" else gate / (1 + np.exp(-gate))) * up
    found = eqx.filter_jit(lambda layer, x: layer(x))(made, jnp.asarray(x, jnp.float32))
    np.testing.assert_allclose(found, expected @ layer.down.weight, rtol=1e-4, atol=1e-5)


def test_initial_weights_of_xlstms_layer_have_its_spreads():
    made = eqx.filter_jit(lambda key: FeedForward(256, 333, "gated_gelu", layers=2, key=key))(jax.random.key(0))
    assert made.gate is not None
    spreads = [float(np.std(layer.weight)) for layer in (made.up, made.gate, made.down)]
    np.testing.assert_allclose(spreads, [(2 / 5 / 256) ** 0.5] * 2 + [1 / 16], rtol=0.02)


def test_values_of_the_first_layer_reach_the_second():
    network = disturbed("rwkv7")

    @eqx.filter_jit
    def second_output(network: Backbone, first: Array) -> Array:
        xs = jnp.asarray(np.random.default_rng(1).normal(size=(3, WIDTH)), jnp.float32)
        return network.blocks[1](xs, jnp.ones(3, bool), first)[0]

    ones, twos = (second_output(network, jnp.full((3, WIDTH), value)) for value in (1.0, 2.0))
    assert np.abs(ones - twos).max() > 1e-2


def test_mixers_take_turns():
    network = disturbed(("mlstm", "slstm"))
    assert [type(block.mixer).__name__ for block in network.blocks] == ["MLSTM", "SLSTM"]


def test_names_the_nearest_mixer():
    with pytest.raises(UsageError, match=r"No mixer named 'delta_net'\. Did you mean 'deltanet'"):
        disturbed("delta_net")


def test_refuses_no_layers():
    with pytest.raises(UsageError, match="layers=0"):
        backbone("mamba", width=8, layers=0, heads=2, key=jax.random.key(0))
