"""Learnt biases against double loops over queries and keys."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.models.layers.positions_bias import Fire, Kerple, T5Bias, t5_buckets

QUERIES, KEYS = [0, 3, 9, 40, 170], [0, 1, 3, 8, 39, 169, 170]


def bucket(distance: int, both_sides: bool) -> int:
    """T5's bucket of a distance, one at a time: exact ones, then ones that grow by a constant factor."""
    count, start = (16, 16 if distance < 0 else 0) if both_sides else (32, 0)
    distance = abs(distance) if both_sides else max(distance, 0)
    exact = count // 2
    if distance < exact:
        return start + distance
    return start + min(count - 1, exact + int(math.log(distance / exact) / math.log(128 / exact) * (count - exact)))


@pytest.mark.parametrize("both_sides", [False, True])
def test_t5_against_a_double_loop(both_sides: bool):
    bias = T5Bias(8, 3, both_sides=both_sides, key=jax.random.key(0))
    found = bias(jnp.array(QUERIES), jnp.array(KEYS))
    for i, query in enumerate(QUERIES):
        for j, key in enumerate(KEYS):
            expected = bias.weight[bucket(query - key, both_sides)]
            np.testing.assert_array_equal(found[:, i, j], expected)


def test_t5_buckets_never_decrease_and_use_all_numbers():
    buckets = np.asarray(t5_buckets(jnp.arange(300)[None]))[0]
    assert np.all(np.diff(buckets) >= 0) and set(buckets.tolist()) == set(range(32))


def test_kerple_against_a_double_loop():
    bias = Kerple(3, key=jax.random.key(0))
    found = bias(jnp.array(QUERIES), jnp.array(KEYS))
    for head in range(3):
        p, a = float(bias.scale[head]), float(bias.rate[head])
        for i, query in enumerate(QUERIES):
            for j, key in enumerate(KEYS):
                np.testing.assert_allclose(
                    found[head, i, j], -p * math.log(1 + a * abs(query - key)), rtol=1e-4, atol=1e-6
                )


def test_fire_against_a_double_loop():
    bias = Fire(3, threshold=32.0, key=jax.random.key(0))
    found = bias(jnp.array(QUERIES), jnp.array(KEYS))
    inner, outer = (np.asarray(layer.weight, float) for layer in (bias.inner, bias.outer))
    for i, query in enumerate(QUERIES):
        for j, key in enumerate(KEYS):
            share = math.log(0.1 * abs(query - key) + 1) / (math.log(0.1 * max(query, 32.0) + 1) + 1e-6)
            expected = np.maximum(share * inner[0], 0) @ outer  # biases start at 0
            np.testing.assert_allclose(found[:, i, j], expected, rtol=1e-3, atol=1e-5)
