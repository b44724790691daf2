"""What theory says of fast weights: the eigenvalues of a token's transition, and what is stored and erased."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.errors import UsageError
from humboldt.models.mixers.fast_weights import NAMED, Eigenvalues, FastWeights, FastWeightsOptions, Token
from humboldt.models.mixers.matrix_state import read, write

WIDTH, HEADS, TOKENS = 8, 2, 30


def tokens(options: FastWeightsOptions) -> Token:
    """What random tokens do, with weights large enough that gates come near their ends."""

    @eqx.filter_jit
    def draw() -> Token:
        k_mixer, k_xs, k_features = jax.random.split(jax.random.key(0), 3)
        mixer = FastWeights(WIDTH, HEADS, replace(options, spread=3.0), key=k_mixer)
        xs = jax.random.normal(k_xs, (TOKENS, WIDTH))
        features = jax.random.normal(k_features, (TOKENS, mixer.input.weight.shape[1]))
        return jax.vmap(mixer.token)(xs, features, jnp.arange(TOKENS, dtype=jnp.int32))

    return draw()


def transitions(options: FastWeightsOptions) -> np.ndarray:
    """The matrices that a head's state is multiplied with, one for each token: `(token heads) key key`."""
    token = tokens(options)
    decay, keys = np.exp(np.asarray(token.log_decay, float)), np.asarray(token.keys, float)
    strengths = None if token.strengths is None else np.asarray(token.strengths, float)
    size = keys.shape[-1]
    matrices = []
    for t in range(TOKENS):
        for h in range(HEADS):
            matrix = np.diag(np.broadcast_to(decay[t, h], size))
            for n in range(keys.shape[1]):
                strength, k = 0 if strengths is None else strengths[t, n, h], keys[t, n, h]
                matrix = (np.eye(size) - strength * np.outer(k, k)) @ matrix
            matrices.append(matrix)
    return np.stack(matrices)


@pytest.mark.parametrize("name", ["retnet", "gla", "hgrn2", "deltanet", "deltaproduct", "gated_deltaproduct"])
def test_no_transition_lets_a_state_grow(name: str):
    assert np.linalg.norm(transitions(NAMED[name]), 2, axis=(1, 2)).max() <= 1 + 1e-6


@pytest.mark.parametrize("householders", [1, 2])
@pytest.mark.parametrize("eigenvalues", ["0_1", "-1_1"])
def test_eigenvalues_are_in_their_range(householders: int, eigenvalues: Eigenvalues):
    """One or two strengths up to 1 give no negative eigenvalue and no rotation (a product of two positive matrices);
    strengths up to 2 give negative ones."""
    options = replace(NAMED["gated_deltanet"], householders=householders, eigenvalues=eigenvalues)
    values = np.linalg.eigvals(transitions(options))
    assert np.abs(values).max() <= 1 + 1e-6
    if eigenvalues == "0_1":
        assert np.abs(values.imag).max() < 1e-6
        assert values.real.min() > -1e-6
    else:
        assert values.real.min() < -0.5
        assert (np.abs(values.imag).max() > 0.1) == (householders == 2)


def test_three_writes_of_full_strength_can_change_a_sign():
    """With eigenvalues in [0, 1], from three writes on: keys at 0, 60 and 120 degrees give -cos³ 60° = -1/8."""

    def transition(angles: list[float]) -> np.ndarray:
        angle = np.radians(angles)
        keys = jnp.asarray(np.stack([np.cos(angle), np.sin(angle)], -1)[:, None], jnp.float32)
        state, none, ones = jnp.eye(2)[None], jnp.zeros((1, 1)), jnp.ones((len(angles), 1))
        return np.asarray(write(state, none, keys, jnp.zeros_like(keys), ones)[0], float)

    values = np.linalg.eigvals(transition([0, 60, 120])).real
    np.testing.assert_allclose(sorted(values), [-1 / 8, 0], atol=1e-6)
    assert np.linalg.eigvals(transition([0, 60])).real.min() > -1e-6


def test_a_write_of_full_strength_replaces_and_one_of_two_reflects():
    random = np.random.default_rng(0)
    state = jnp.asarray(random.normal(size=(1, 3, 2)), jnp.float32)
    k = jnp.asarray(random.normal(size=(1, 1, 3)), jnp.float32)
    k = k / jnp.linalg.norm(k)
    v, none = jnp.asarray(random.normal(size=(1, 1, 2)), jnp.float32), jnp.zeros((1, 1))
    replaced = write(state, none, k, v, jnp.ones((1, 1)))
    np.testing.assert_allclose(read(replaced, k[0]), v[0], rtol=1e-5)
    reflected = write(state, none, k, jnp.zeros_like(v), jnp.full((1, 1), 2.0))
    np.testing.assert_allclose(read(reflected, k[0]), -read(state, k[0]), rtol=1e-5)


def test_decays_of_retnet_are_those_of_the_paper():
    np.testing.assert_allclose(np.exp(tokens(NAMED["retnet"]).log_decay[0, :, 0]), [1 - 1 / 32, 1 - 1 / 64], rtol=1e-6)


def test_keys_of_hgrn2_are_one_minus_the_gate():
    token = tokens(NAMED["hgrn2"])
    np.testing.assert_allclose(token.keys[:, 0], 1 - np.exp(token.log_decay), rtol=1e-5, atol=1e-6)


def test_a_least_gate_is_the_least():
    token = tokens(replace(NAMED["hgrn2"], least_gate=0.3))
    assert 0.3 - 1e-6 <= np.exp(token.log_decay).min() < 0.4


def test_refuses_to_turn_half_a_pair():
    with pytest.raises(UsageError, match="Make that even"):
        FastWeights(6, 2, NAMED["retnet"], key=jax.random.key(0))


@pytest.mark.parametrize(("wrong", "message"), [
    ({"householders": 0}, "householders=0"),
    ({"tied_keys": True}, "tied_keys"),
    ({"eigenvalues": "-1_1"}, "erase=none"),
])  # fmt: skip
def test_refuses_what_has_no_meaning(wrong: dict, message: str):
    with pytest.raises(UsageError, match=message):
        FastWeightsOptions(**wrong)
