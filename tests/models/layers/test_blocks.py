"""Blocks against the equations, written out in NumPy, and what masks and dropout do."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.errors import UsageError
from humboldt.models.layers.attention import Attention
from humboldt.models.layers.blocks import Block, BlockOptions, Blocks
from humboldt.models.layers.dropout import dropout


def normal(*shape: int) -> jax.Array:
    return jnp.array(np.random.default_rng(0).normal(size=shape), jnp.float32)


@eqx.filter_jit
def run(blocks: Blocks, x: jax.Array, key: Any = None) -> tuple[jax.Array, dict[str, jax.Array]]:
    return blocks(x, jnp.ones(len(x), bool), key=key)


def layer(blocks: Blocks, index: int) -> Block:
    return jax.tree.map(lambda leaf: leaf[index], blocks.blocks)


def layer_norm(x: np.ndarray) -> np.ndarray:
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


def test_a_block_against_numpy():
    """Attention head by head and query by query; normalisation after each residual connection."""
    heads, size, time = 4, 4, 5
    width = heads * size
    block, x = layer(Blocks(2, BlockOptions(width, heads, 32), key=jax.random.key(0)), 0), normal(time, width)
    found, notes = eqx.filter_jit(block)(x, jnp.ones((time, time), bool))
    attention = np.asarray(notes["attention"])

    q, k, v, o, up, down = (
        np.asarray(layer.weight)
        for layer in (
            block.attention.query,
            block.attention.key,
            block.attention.value,
            block.attention.output,
            block.feed_forward.up,
            block.feed_forward.down,
        )
    )
    old = np.asarray(x)
    mixed = np.zeros((time, width))
    for h in range(heads):
        own = slice(h * size, (h + 1) * size)
        for i in range(time):
            scores = np.array([(old[i] @ q[:, own]) @ (old[j] @ k[:, own]) for j in range(time)]) / np.sqrt(size)
            weights = np.exp(scores) / np.exp(scores).sum()
            np.testing.assert_allclose(attention[h, i], weights, rtol=1e-4)
            mixed[i, own] = sum(weights[j] * (old[j] @ v[:, own]) for j in range(time))
    middle = layer_norm(old + mixed @ o)
    expected = layer_norm(middle + np.maximum(middle @ up, 0) @ down)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)
    np.testing.assert_array_equal(notes["states"], found)


def test_layers_by_scan_equal_layers_by_hand():
    blocks, x = Blocks(2, BlockOptions(16, 4, 32, positions="rope"), key=jax.random.key(0)), normal(5, 16)
    found, notes = run(blocks, x)
    expected, block = x, eqx.filter_jit(lambda block, x: block(x, jnp.ones((5, 5), bool)))
    for i in range(2):
        expected, own = block(layer(blocks, i), expected)
        np.testing.assert_allclose(notes["states"][i], expected, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(notes["attention"][i], own["attention"], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_a_causal_block_does_not_look_right():
    blocks, x = Blocks(2, BlockOptions(16, 4, 32), causal=True, key=jax.random.key(0)), normal(5, 16)
    expected, notes = run(blocks, x)
    found, _ = run(blocks, x.at[3].set(9.0))
    np.testing.assert_array_equal(found[:3], expected[:3])
    assert not np.allclose(found[3:], expected[3:])
    assert (np.triu(notes["attention"], 1) == 0).all()


def test_a_query_that_may_see_nothing_finds_zeros():
    attention, x = Attention(16, 4, key=jax.random.key(0)), normal(3, 16)
    output, weights = attention(x, attention.remember(x), jnp.zeros((3, 3), bool))
    assert (output == 0).all() and (weights == 0).all()


def test_dropout_keeps_the_mean_and_needs_a_key():
    x = jnp.ones(20_000)
    assert dropout(x, 0.25, None) is x
    dropped = dropout(x, 0.25, jax.random.key(0))
    assert abs(float(dropped.mean()) - 1) < 0.02 and abs(float((dropped == 0).mean()) - 0.25) < 0.02


def test_every_place_of_dropout_works():
    x = normal(5, 16)
    outer = BlockOptions(16, 4, 32, dropout=0.5)
    inner = BlockOptions(16, 4, 32, dropout=0.0, inner_dropout=0.5, use_bias=True)
    for options in (outer, inner):
        blocks = Blocks(2, options, key=jax.random.key(0))
        plain, first, second = (run(blocks, x, key)[0] for key in (None, jax.random.key(1), jax.random.key(2)))
        assert not np.allclose(first, second) and not np.allclose(first, plain)


def test_heads_must_fit():
    with pytest.raises(UsageError, match="width=10 cannot be shared out among num_heads=4"):
        Attention(10, 4, key=jax.random.key(0))
    with pytest.raises(UsageError, match="Make that even"):
        Attention(12, 4, positions="rope", key=jax.random.key(0))
