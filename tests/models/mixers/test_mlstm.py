"""mLSTM's memory against the paper's equations without the stabiliser, in double precision."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from humboldt.models.mixers.mlstm import Token, recall

TIME, HEADS, SIZE = 9, 2, 3
VECTORS, GATES = (TIME, HEADS, SIZE), (TIME, HEADS)


def drawn(scale: float) -> Any:
    """A `Token` of NumPy arrays."""
    random = np.random.default_rng(0)
    q, k, v, i, f = (scale * random.normal(size=shape) for shape in (VECTORS, VECTORS, VECTORS, GATES, GATES))
    return Token(*(array for array in (q, k, v, i, -np.abs(f))))  # pyright: ignore[reportArgumentType]


def run(token: Any) -> np.ndarray:
    given = Token(*(jnp.asarray(array, jnp.float32) for array in token))
    return np.asarray(jax.jit(lambda token: recall(token, chunk=4))(given))


def test_the_stabiliser_changes_nothing():
    token = drawn(1.5)
    for h in range(HEADS):
        memory, normaliser, below_one = np.zeros((SIZE, SIZE)), np.zeros(SIZE), 0
        outputs = run(token)
        for t in range(TIME):
            f, i = np.exp(token.log_forget[t, h]), np.exp(token.input_gate[t, h])
            memory = f * memory + i * np.outer(token.key[t, h], token.value[t, h])
            normaliser = f * normaliser + i * token.key[t, h]
            weight = abs(token.query[t, h] @ normaliser)
            below_one += weight < 1
            expected = token.query[t, h] @ memory / max(weight, 1)
            np.testing.assert_allclose(outputs[t, h], expected, rtol=1e-4, atol=1e-4)
        assert 0 < below_one < TIME  # both cases occur


def test_large_gates_do_not_overflow():
    """With gates of exp(300) what is read is still a mean of values, with weights that sum to one."""
    token = drawn(1.0)
    token = token._replace(query=np.abs(token.query), key=np.abs(token.key), input_gate=300 + token.input_gate)
    outputs = run(token)
    assert np.isfinite(outputs).all()
    assert outputs.max() <= np.max(token.value) + 1e-4
    assert outputs.min() >= np.min(token.value) - 1e-4


def test_gradients_are_those_without_the_stabiliser():
    """The stabiliser is given no gradient, since the output does not depend on it."""
    token = Token(*(jnp.asarray(array, jnp.float32) for array in drawn(1.5)))

    def plain(token: Token) -> jax.Array:
        def step(memory: jax.Array, token: Token) -> tuple[jax.Array, jax.Array]:
            value = jnp.concatenate([token.value, jnp.ones((HEADS, 1))], -1)
            written = jnp.exp(token.input_gate)[:, None, None] * token.key[:, :, None] * value[:, None, :]
            memory = jnp.exp(token.log_forget)[:, None, None] * memory + written
            y = jnp.einsum("hk,hkv->hv", token.query, memory)
            return memory, y[:, :-1] / jnp.maximum(jnp.abs(y[:, -1:]), 1.0)

        return jax.lax.scan(step, jnp.zeros((HEADS, SIZE, SIZE + 1)), token)[1]

    def gradient(form: Callable[[Token], jax.Array]) -> Token:
        return jax.jit(jax.grad(lambda token: jnp.sin(form(token)).sum()))(token)

    for mine, theirs in zip(gradient(lambda token: recall(token, chunk=4)), gradient(plain), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-3, atol=1e-4 * float(jnp.abs(theirs).max()))
