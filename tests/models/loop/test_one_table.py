"""The backward pass over one table of the nondeterministic stack, against that of the plain loop."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.models.loop.one_table import unroll_over_one_table
from humboldt.models.loop.unroll import unroll
from humboldt.models.zoo.ndstack_rnn import NDStackRNN

MODELS = [
    NDStackRNN(hidden_size=5),
    NDStackRNN(hidden_size=4, num_stack_symbols=4, read_states=False, fading=True, controller="lstm"),
    NDStackRNN(hidden_size=4, fading=True),
]


def loss_of(outputs: Callable[[Any, Any, jax.Array], jax.Array]) -> Callable[[Any, jax.Array], jax.Array]:
    def loss(model: Any, batch: jax.Array) -> jax.Array:
        def one(tokens: jax.Array) -> jax.Array:
            hidden = outputs(model.cell, model.start(tokens), jax.nn.one_hot(tokens, 3))
            return jnp.sin(3 * hidden).sum()

        return jax.vmap(one)(batch).sum()

    return loss


@pytest.mark.parametrize("index", [0, 1])
def test_one_table_is_as_good_as_one_per_step(index: int, getkey: Callable[[], Any]):
    model = MODELS[index].build(3, 2, num_symbols=2, key=getkey())
    where: Callable[[Any], Any] = lambda m: m.cell.memory.action.weight  # noqa: E731
    model = eqx.tree_at(where, model, replace_fn=lambda weight: 4 * weight)
    batch = jax.random.randint(getkey(), (3, 12), 0, 3)
    plain = loss_of(lambda cell, state, xs: unroll(cell, state, xs, hoist=False)[1])
    one_table = loss_of(unroll_over_one_table)
    (expected, d_expected), (found, d_found) = (
        eqx.filter_jit(eqx.filter_value_and_grad(loss))(model, batch) for loss in (plain, one_table)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    for a, b in zip(jax.tree.leaves(d_found), jax.tree.leaves(d_expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)


def test_gradient_equals_finite_differences():
    with jax.enable_x64(True):
        model = MODELS[2].build(3, 2, num_symbols=2, key=jax.random.key(0))
        tokens = jnp.array([[0, 1, 1, 0, 2, 2]])
        weights, static = eqx.partition(model, eqx.is_inexact_array)

        @jax.jit
        def loss(weights: Any) -> jax.Array:
            return loss_of(unroll_over_one_table)(eqx.combine(weights, static), tokens)

        gradient = jax.jit(jax.grad(loss))(weights)
        leaves, tree = jax.tree.flatten(weights)
        assert all(leaf.dtype == jnp.float64 for leaf in leaves)
        rng, size = np.random.default_rng(0), 1e-5
        for _ in range(3):
            direction = jax.tree.unflatten(tree, [jnp.array(rng.normal(size=leaf.shape)) for leaf in leaves])
            up, down = (jax.tree.map(lambda w, d, s=s: w + s * d, weights, direction) for s in (size, -size))
            expected = (loss(up) - loss(down)) / (2 * size)
            products = jax.tree.map(lambda g, d: (g * d).sum(), gradient, direction)
            np.testing.assert_allclose(sum(jax.tree.leaves(products)), expected, rtol=1e-6)


def test_memory_grows_with_the_square_of_the_length():
    model = NDStackRNN(hidden_size=4).build(3, 2, num_symbols=2, key=jax.random.key(0))
    weights, static = eqx.partition(model, eqx.is_inexact_array)

    def needed(length: int) -> int:
        tokens = jnp.zeros((1, length), jnp.int32)
        loss = lambda weights: loss_of(unroll_over_one_table)(eqx.combine(weights, static), tokens)  # noqa: E731
        analysis = jax.jit(jax.grad(loss)).lower(weights).compile().memory_analysis()
        assert analysis is not None
        return analysis.temp_size_in_bytes

    assert needed(128) < 4.5 * needed(64)
