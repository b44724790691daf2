"""The matrix state against a loop in NumPy, in double precision."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.models.mixers.matrix_state import (
    CHUNK,
    LONG_CHUNK,
    VECTOR_CHUNK,
    best_chunk,
    read_all,
    read_all_shared,
)

TIME, HEADS, KEY, VALUE = 11, 2, 3, 4


def by_loop(
    queries: np.ndarray, log_decays: np.ndarray, keys: np.ndarray, values: np.ndarray, strengths: np.ndarray | None
) -> np.ndarray:
    outputs = np.zeros((TIME, HEADS, VALUE))
    for h in range(HEADS):
        state = np.zeros((KEY, VALUE))
        for t in range(TIME):
            state = np.exp(log_decays[t, h])[:, None] * state
            for n in range(keys.shape[1]):
                k, v = keys[t, n, h], values[t, n, h]
                change = v if strengths is None else strengths[t, n, h] * (v - k @ state)
                state = state + np.outer(k, change)
            outputs[t, h] = queries[t, h] @ state
    return outputs


@pytest.mark.parametrize(("writes", "vector", "erases", "chunk"), [
    (1, False, True, 4), (3, False, True, 4), (2, True, True, 5), (1, True, False, 8), (2, False, False, 64),
    (2, False, True, 1), (1, True, False, 1),
])  # fmt: skip
def test_chunks_are_the_loop(writes: int, vector: bool, erases: bool, chunk: int):
    random = np.random.default_rng(0)
    queries = random.normal(size=(TIME, HEADS, KEY))
    log_decays = -np.abs(random.normal(size=(TIME, HEADS, KEY if vector else 1)))
    keys = random.normal(size=(TIME, writes, HEADS, KEY))
    keys /= np.linalg.norm(keys, axis=-1, keepdims=True)
    values = random.normal(size=(TIME, writes, HEADS, VALUE))
    strengths = 2 * random.uniform(size=(TIME, writes, HEADS)) if erases else None
    arrays = (queries, log_decays, keys, values, strengths)
    given = [None if array is None else jnp.asarray(array, jnp.float32) for array in arrays]
    outputs = jax.jit(lambda *arrays: read_all(*arrays, chunk=chunk))(*given)
    np.testing.assert_allclose(outputs, by_loop(*arrays), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("chunk", [1, 4, None])
def test_shared_keys_are_the_loop_with_copies(chunk: int | None):
    random = np.random.default_rng(0)
    query, key = random.normal(size=(2, TIME, KEY))
    log_decays = -np.abs(random.normal(size=(TIME, HEADS)))
    values = random.normal(size=(TIME, HEADS, VALUE))
    queries, keys = (np.tile(each[:, None], (1, HEADS, 1)) for each in (query, key))
    expected = by_loop(queries, log_decays[..., None], keys[:, None], values[:, None], None)
    given = [jnp.asarray(array, jnp.float32) for array in (query, log_decays, key, values)]
    outputs = jax.jit(lambda *arrays: read_all_shared(*arrays, chunk=chunk))(*given)
    np.testing.assert_allclose(outputs, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("key", "value", "vector", "erases", "chunk"), [
    (8, 16, False, True, 1), (16, 32, False, True, CHUNK), (8, 16, False, False, CHUNK), (8, 16, True, False, 1),
    (32, 64, True, False, VECTOR_CHUNK), (22, 23, False, False, LONG_CHUNK),
])  # fmt: skip
def test_a_cpu_reads_small_states_token_by_token(key: int, value: int, vector: bool, erases: bool, chunk: int):
    if jax.default_backend() != "cpu":
        pytest.skip("An accelerator always reads in chunks.")
    log_decays, keys = jnp.zeros((3, 2, key if vector else 1)), jnp.zeros((3, 1, 2, key))
    values, strengths = jnp.zeros((3, 1, 2, value)), jnp.zeros((3, 1, 2)) if erases else None
    assert best_chunk(log_decays, keys, values, strengths) == chunk
