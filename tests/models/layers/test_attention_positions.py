"""All kinds of positions in causal attention: all at once, step by step, and by double loops."""

from typing import get_args

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.errors import UsageError
from humboldt.models.layers.attention import Attention, KeysValues
from humboldt.models.layers.positions import RelativePositions
from humboldt.models.layers.positions_context import ContextualPositions
from humboldt.models.layers.positions_random import draw_places
from humboldt.models.zoo.shared.attention import AllPositions, is_random

TIME, WIDTH, HEADS = 7, 8, 2


def normal(*shape: int, seed: int = 0) -> jax.Array:
    return jnp.array(np.random.default_rng(seed).normal(size=shape), jnp.float32)


def attention_of(positions: AllPositions) -> Attention:
    attention = Attention(WIDTH, HEADS, positions=positions, key=jax.random.key(0))
    if attention.contextual is not None:  # which starts at 0
        weight = normal(*attention.contextual.weight.shape, seed=3)
        attention = eqx.tree_at(lambda a: a.contextual.weight, attention, weight)
    return attention


@pytest.mark.parametrize("positions", get_args(AllPositions))
def test_steps_give_the_same_as_all_at_once(positions: AllPositions):
    attention, x = attention_of(positions), normal(TIME, WIDTH)
    places = draw_places(TIME, TIME, 64) if is_random(positions) else None
    whole, _ = attention(x, attention.remember(x, places=places), jnp.tri(TIME, dtype=bool), places=places)

    @jax.jit
    def step(past: KeysValues, i: jax.Array) -> tuple[KeysValues, jax.Array]:
        row = jax.lax.dynamic_slice_in_dim(x, i, 1)
        new = attention.remember(row, first=i, places=places)
        past = KeysValues(*(jax.lax.dynamic_update_slice_in_dim(a, b, i, 0) for a, b in zip(past, new, strict=True)))
        seen = (jnp.arange(TIME) <= i)[None]
        y, _ = attention(row, past, seen, first=i, num_positions=TIME, places=places)
        return past, y[0]

    zeros = jnp.zeros((TIME, HEADS, WIDTH // HEADS))
    past = KeysValues(zeros, zeros)
    for i in range(TIME):
        past, y = step(past, jnp.array(i))
        np.testing.assert_allclose(y, whole[i], atol=2e-5)


@pytest.mark.parametrize(
    "positions", [kind for kind in get_args(AllPositions) if not kind.endswith(("none", "sin_cos"))]
)
def test_the_order_of_tokens_matters(positions: AllPositions):
    """The last query sees the same tokens in another order; without positions its output would be the same."""
    attention, x = attention_of(positions), normal(TIME, WIDTH)
    places = draw_places(TIME, TIME, 64) if is_random(positions) else None

    def last(x: jax.Array) -> jax.Array:
        return attention(x, attention.remember(x, places=places), jnp.tri(TIME, dtype=bool), places=places)[0][-1]

    swapped = x[jnp.array([2, 1, 0, *range(3, TIME)])]
    assert np.abs(np.asarray(last(x) - last(swapped))).max() > 1e-4


def test_relative_at_places_equals_the_shift_where_places_are_0_1_2():
    relative = RelativePositions(WIDTH, HEADS, offset=1, key=jax.random.key(0))
    queries, keys = normal(TIME, HEADS, 4), normal(TIME, HEADS, 4, seed=1)
    shifted = relative(queries, keys, first=0, num_positions=TIME)
    at_places = relative.at_places(queries, keys, jnp.arange(TIME), jnp.arange(TIME))
    np.testing.assert_allclose(at_places, shifted, atol=1e-5)


def test_cope_against_a_double_loop():
    cope = eqx.tree_at(lambda c: c.weight, ContextualPositions(4, num_positions=4), normal(4, 4, seed=5))
    queries, scores = normal(6, HEADS, 4), normal(HEADS, 6, 6, seed=1)
    found = cope(queries, scores, jnp.tri(6, dtype=bool))
    for head in range(HEADS):
        for i in range(6):
            for j in range(i + 1):
                place = min(3.0, sum(1 / (1 + np.exp(-float(scores[head, i, k]))) for k in range(j, i + 1)))
                values = [float(queries[i, head] @ cope.weight[p]) for p in range(4)]
                np.testing.assert_allclose(found[head, i, j], np.interp(place, range(4), values), atol=1e-4)


def test_random_positions_need_places():
    attention, x = attention_of("random_rope"), normal(TIME, WIDTH)
    with pytest.raises(ValueError, match="needs the places"):
        attention.remember(x)


def test_cope_needs_causal_attention():
    with pytest.raises(UsageError, match="looks both ways"):
        Attention(WIDTH, HEADS, positions="cope", both_sides=True, key=jax.random.key(0))
