"""The transition of RWKV-7 against its equation, and its eigenvalues."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.errors import UsageError
from humboldt.models.mixers.rwkv7 import RWKV7, SLOWEST, Token, _write

WIDTH, HEADS, TOKENS = 6, 2, 40


def tokens() -> Token:
    @eqx.filter_jit
    def draw() -> Token:
        k_mixer, k_leaves, k_xs = jax.random.split(jax.random.key(0), 3)
        mixer = RWKV7(WIDTH, HEADS, key=k_mixer)
        mixer = jax.tree.map(lambda leaf: leaf + jax.random.normal(k_leaves, leaf.shape), mixer)
        xs = jax.random.normal(k_xs, (2, TOKENS, WIDTH))
        return jax.vmap(lambda x, before: mixer.token(x, before, None)[0])(xs[0], xs[1])

    return draw()


def test_a_state_is_decayed_erased_and_written():
    token = jax.tree.map(lambda array: array[0], tokens())
    state = np.random.default_rng(0).normal(size=(HEADS, 3, 3))
    found = jax.jit(_write)(jnp.asarray(state, jnp.float32), token)
    for h in range(HEADS):
        w, k, v, kappa, a = (
            np.asarray(array[h], float)
            for array in (np.exp(token.log_decay), token.key, token.value, token.erased, token.strength)
        )
        transition = np.diag(w) - np.outer(a * kappa, kappa)
        np.testing.assert_allclose(found[h], transition @ state[h] + np.outer(k, v), rtol=1e-4, atol=1e-5)


def test_eigenvalues_are_real_and_between_minus_one_and_one():
    token = tokens()
    decay = np.exp(np.asarray(token.log_decay, float))
    assert decay.min() >= np.exp(SLOWEST) - 1e-6
    matrices = np.stack([
        np.diag(decay[t, h]) - np.outer(token.strength[t, h] * token.erased[t, h], token.erased[t, h])
        for t in range(TOKENS)
        for h in range(HEADS)
    ])  # fmt: skip
    values = np.linalg.eigvals(matrices)
    assert np.abs(values).max() <= 1 + 1e-6
    assert np.abs(values.imag).max() < 1e-6
    assert values.real.min() < 0  # a state can change its sign


def test_refuses_heads_of_one_feature():
    with pytest.raises(UsageError, match="heads=4"):
        RWKV7(4, 4, key=jax.random.key(0))
