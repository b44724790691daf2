"""PD-SSM: its transitions, against the equations as a loop in NumPy."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.models.mixers.pd_ssm import PDSSM

WIDTH, STATES = 6, 5


@pytest.fixture(name="mixer", scope="module")
def _mixer() -> PDSSM:
    shapes = eqx.filter_eval_shape(lambda key: PDSSM(WIDTH, state_size=STATES, matrices=3, key=key), jax.random.key(0))
    rng = np.random.default_rng(0)
    return jax.tree.map(lambda leaf: jnp.asarray(rng.normal(size=leaf.shape), jnp.float32), shapes)


def test_outputs_are_those_of_the_equations(mixer: PDSSM):
    xs = np.random.default_rng(1).normal(size=(20, WIDTH)).astype(np.float32)
    state = np.eye(STATES)[0].astype(complex)
    expected, seen = [], set()
    for x in xs:
        shares, diagonal, _ = map(np.asarray, mixer.token(jnp.asarray(x)))
        scores = np.einsum("k,kij->ij", shares, mixer.matrices)
        places = scores.argmax(1)
        seen.add(tuple(places))
        real, imaginary = np.split(np.asarray(mixer.writing.weight).T, 2)
        state = (diagonal[0] + 1j * diagonal[1]) * state[places] + (real + 1j * imaginary) @ x
        joint = np.concatenate([state.real, state.imag])
        expected.append(joint @ mixer.reading.weight + mixer.reading.bias + mixer.skip * x)
    assert len(seen) > 2  # tokens move the state differently
    outputs = eqx.filter_jit(mixer)(jnp.asarray(xs), jnp.ones(20, bool))
    np.testing.assert_allclose(outputs, expected, rtol=2e-4, atol=2e-4)


def test_a_token_moves_and_shrinks_the_state(mixer: PDSSM):
    rng = np.random.default_rng(2)
    xs, states = (jnp.asarray(rng.normal(size=size), jnp.float32) for size in ((20, WIDTH), (20, 2, STATES)))

    @eqx.filter_jit
    def run(mixer: PDSSM) -> tuple[jax.Array, jax.Array]:
        shares, diagonals, _ = jax.vmap(mixer.token)(xs)
        after = jax.vmap(mixer.advance)(states, shares, diagonals, jnp.zeros_like(states))
        return jax.vmap(mixer.moves)(shares), after

    moves, after = map(np.asarray, run(mixer))
    assert (np.isclose(moves, 0, atol=1e-6) | np.isclose(moves, 1)).all() and np.allclose(moves.sum(2), 1)
    assert (np.hypot(*np.moveaxis(after, 1, 0)).max(1) < np.hypot(*np.moveaxis(np.asarray(states), 1, 0)).max(1)).all()


def test_the_gradient_of_moves_is_that_of_the_softmax(mixer: PDSSM):
    shares = jnp.asarray([0.2, 0.5, 0.3])
    weights = jnp.asarray(np.random.default_rng(3).normal(size=(STATES, STATES)), jnp.float32)

    def soft(shares: jax.Array) -> jax.Array:
        return (weights * jax.nn.softmax(jnp.einsum("k,kij->ij", shares, mixer.matrices))).sum()

    through = jax.grad(lambda shares: (weights * mixer.moves(shares)).sum())(shares)
    np.testing.assert_allclose(through, jax.grad(soft)(shares), rtol=1e-5)
    assert np.abs(np.asarray(through)).max() > 0.01
