"""What every named mixer promises: the same numbers at once and step by step, untouched by padding, in an ensemble."""

from functools import cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

from humboldt.models.layers.linear import Linear, with_products_in
from humboldt.models.mixers.base import AbstractMixer, fold
from humboldt.models.mixers.named import MIXERS, Place

# Small, odd where they can be, and with chunks that do not divide the lengths.
WIDTH, HEADS, MEMBERS, LONGEST = 12, 2, 2, 40
SMALL: dict[str, dict[str, Any]] = {
    "mamba2": {"state_size": 5, "chunk": 6},
    "mlstm": {"chunk": 6},
    "deltanet": {"chunk": 6},
    "gla": {"head_size": 3, "chunk": 6},
    "retnet": {"head_size": 4, "chunk": 6},
    "gated_deltaproduct": {"head_size": 5, "chunk": 4},
    "mamba": {"state_size": 3, "eigenvalues": "-1_1"},
    "s4d": {"state_size": 6},
    "lru": {"state_size": 7},
    "pd_ssm": {"state_size": 7, "matrices": 3},
    "mingru": {"expansion": 2},
    "slstm": {"recurrent": "standard"},
}


def make(name: str, key: Array) -> AbstractMixer:
    return MIXERS[name].make(Place(WIDTH, HEADS, layer=0, layers=2), key=key, **SMALL.get(name, {}))


def inputs(length: int) -> Array:
    return jax.random.normal(jax.random.key(1), (MEMBERS, length, WIDTH))


@cache
def members(name: str) -> AbstractMixer:
    """An ensemble, drawn as one program. Many parameters begin at zero, where a mistake would not show."""
    keys = jax.random.split(jax.random.key(0), MEMBERS)
    mixers = eqx.filter_jit(eqx.filter_vmap(lambda key: make(name, key)))(keys)
    random = np.random.default_rng(0)
    return jax.tree.map(lambda leaf: leaf + 0.2 * random.normal(size=leaf.shape).astype(np.float32), mixers)


@pytest.mark.parametrize("name", MIXERS)
def test_all_at_once_is_step_by_step(name: str):
    xs = inputs(LONGEST)
    mask = jnp.arange(LONGEST)[None] < jnp.array([[LONGEST], [23]])

    @eqx.filter_jit
    @eqx.filter_vmap
    def run(mixer: AbstractMixer, xs: Array) -> tuple[Array, list[Array], Array]:
        short = [mixer(xs[:length], jnp.ones(length, bool)) for length in (1, 7)]
        padded = jnp.where(mask[:, :, None], xs[None], 1e3)
        return fold(mixer, xs), short, jax.vmap(mixer)(padded, mask)

    expected, short, long = run(members(name), xs)
    assert np.abs(expected).max() > 0.05
    for outputs in (*short, long[:, 0], long[:, 1, :23]):
        np.testing.assert_allclose(outputs, expected[:, : outputs.shape[1]], rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("name", MIXERS)
def test_gradients_are_finite_at_length_500(name: str):
    def loss(both: tuple[AbstractMixer, Array]) -> Array:
        mixer, xs = both
        return jnp.sin(3 * mixer(xs, jnp.ones(len(xs), bool))).sum()

    gradients = eqx.filter_jit(eqx.filter_vmap(eqx.filter_grad(loss)))((members(name), inputs(500)))
    for path, leaf in jax.tree_util.tree_leaves_with_path(gradients):
        assert np.isfinite(leaf).all(), jax.tree_util.keystr(path)
        assert np.abs(leaf).max() > 0, jax.tree_util.keystr(path)


@pytest.mark.parametrize("name", MIXERS)
def test_products_can_be_rounded(name: str):
    """Training in half precision rounds the weights of linear layers, and nothing else."""

    def run(key: Array) -> tuple[Array, Array]:
        mixer = jax.tree.map(
            lambda node: with_products_in(node, jnp.bfloat16) if isinstance(node, Linear) else node,
            make(name, key),
            is_leaf=lambda node: isinstance(node, Linear),
        )
        xs = inputs(3)[0]
        return mixer(xs, jnp.ones(3, bool)), fold(mixer, xs)

    shapes = jax.eval_shape(run, jax.random.key(0))
    assert [(shape.shape, shape.dtype) for shape in shapes] == [((3, WIDTH), jnp.float32)] * 2
