"""Positional encodings against slow, obvious NumPy forms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.models.layers.positions import (
    RelativePositions,
    alibi_bias,
    alibi_slopes,
    relative_shift,
    rotate,
    sinusoids,
)


def wave(position: int, size: int) -> np.ndarray:
    rates = [10_000 ** (-2 * i / size) for i in range(size // 2)]
    return np.array([np.sin(position * rate) for rate in rates] + [np.cos(position * rate) for rate in rates])


def test_sinusoids_against_numpy():
    positions = [0, 1, 7, -3, 1000]
    found = sinusoids(jnp.array(positions), 6)
    np.testing.assert_allclose(found, [wave(position, 6) for position in positions], atol=1e-4)


def test_sinusoids_come_in_pairs():
    with pytest.raises(ValueError, match="in pairs"):
        sinusoids(jnp.arange(3), 5)


def test_rope_against_complex_numbers():
    x = np.random.default_rng(0).normal(size=(5, 2, 4)).astype(np.float32)
    found = np.asarray(rotate(jnp.array(x), jnp.arange(3, 8)))
    for t in range(5):
        for pair, rate in enumerate([1, 0.01]):
            number = x[t, :, 2 * pair] + 1j * x[t, :, 2 * pair + 1]
            turned = number * np.exp(1j * rate * (t + 3))
            np.testing.assert_allclose(found[t, :, 2 * pair], turned.real, atol=1e-5)
            np.testing.assert_allclose(found[t, :, 2 * pair + 1], turned.imag, atol=1e-5)


def test_rope_depends_on_the_distance_only():
    rng = np.random.default_rng(0)
    query, key = (jnp.array(rng.normal(size=(1, 1, 8)), jnp.float32) for _ in range(2))

    def score(i: int, j: int) -> float:
        return float((rotate(query, jnp.array([i])) * rotate(key, jnp.array([j]))).sum())

    assert abs(score(3, 10) - score(103, 110)) < 1e-3
    assert abs(score(3, 10) - score(10, 3)) > 1e-2  # left is not right


def test_alibi_slopes():
    assert alibi_slopes(8) == [2.0**-i for i in range(1, 9)]
    # Twelve heads: eight slopes, then every other one of sixteen.
    assert alibi_slopes(12) == [*alibi_slopes(8), 2**-0.5, 2**-1.5, 2**-2.5, 2**-3.5]


def test_alibi_against_a_double_loop():
    places = jnp.arange(5)
    found = np.asarray(alibi_bias(places[:, None] - places[None, :], 8))
    for head in range(8):
        for i in range(5):
            for j in range(5):
                assert found[head, i, j] == 2.0 ** -(head + 1) * (-abs(i - j) + (0.5 if j < i else 0))


@pytest.mark.parametrize(("num_queries", "num_keys"), [(4, 4), (1, 5), (5, 1), (3, 6), (6, 3), (1, 1), (2, 1)])
def test_the_relative_shift_against_a_double_loop(num_queries: int, num_keys: int):
    distances = range(num_queries - 1, -num_keys, -1)
    scores = np.random.default_rng(0).normal(size=(num_queries, len(distances))).astype(np.float32)
    found = np.asarray(relative_shift(jnp.array(scores)))
    assert found.shape == (num_queries, num_keys)
    for i in range(num_queries):
        for j in range(num_keys):
            assert found[i, j] == scores[i, list(distances).index(i - j)]


@pytest.mark.parametrize(("first", "num_queries"), [(0, 6), (0, 1), (2, 1), (5, 1), (2, 3)])
def test_relative_positions_against_a_double_loop(first: int, num_queries: int):
    """All queries at once, one alone, some of them: Transformer-XL's formula for each pair."""
    heads, size, num_keys, num_positions = 2, 4, 5, 6
    layer = RelativePositions(heads * size, heads, key=jax.random.key(0))
    rng = np.random.default_rng(0)
    queries, keys = (rng.normal(size=(n, heads, size)).astype(np.float32) for n in (num_queries, num_keys))
    found = np.asarray(layer(jnp.array(queries), jnp.array(keys), first=first, num_positions=num_positions))
    u, v, weight = (np.asarray(x) for x in (layer.content_bias, layer.distance_bias, layer.key.weight))
    for i in range(num_queries):
        for j in range(num_keys):
            distance = (wave(first + i - j, heads * size) @ weight).reshape(heads, size)
            for h in range(heads):
                expected = (queries[i, h] + u[h]) @ keys[j, h] + (queries[i, h] + v[h]) @ distance[h]
                np.testing.assert_allclose(found[h, i, j], expected, atol=1e-4)
