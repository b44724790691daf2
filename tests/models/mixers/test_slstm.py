"""sLSTM against the paper's equations without the stabiliser, in double precision."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.models.mixers.slstm import SLSTM, BiasInitialisation

TIME, WIDTH, HEADS = 9, 6, 2


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def test_the_stabiliser_changes_nothing():
    xs = np.random.default_rng(0).normal(size=(TIME, WIDTH))

    @eqx.filter_jit
    def run(xs: jax.Array) -> tuple[SLSTM, jax.Array]:
        mixer = SLSTM(WIDTH, HEADS, convolution=0, bias="standard", recurrent="standard", key=jax.random.key(0))
        mixer = jax.tree.map(lambda leaf: 3 * leaf, mixer)
        return mixer, mixer(xs, jnp.ones(TIME, bool))

    mixer, outputs = run(jnp.asarray(xs, jnp.float32))
    m = jax.tree.map(lambda leaf: np.asarray(leaf, float), mixer)
    h = c = n = np.zeros((HEADS, WIDTH // HEADS))
    for t in range(TIME):
        x = xs[t].reshape(HEADS, -1)
        i, f, z, o = (
            np.stack([x[k] @ m.gates[g].weight[k] + h[k] @ m.recurrent[k, :, g] for k in range(HEADS)]) + m.bias[g]
            for g in range(4)
        )
        c, n = sigmoid(f) * c + np.exp(i) * np.tanh(z), sigmoid(f) * n + np.exp(i)
        h = sigmoid(o) * c / n
        centred = h - h.mean(-1, keepdims=True)
        expected = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * m.norm.weight
        np.testing.assert_allclose(outputs[t], expected.ravel(), rtol=1e-4, atol=1e-4)


def test_large_gates_do_not_overflow():
    """An input gate of exp(200) is not a float; what is stored then is the candidate."""

    @eqx.filter_jit
    def run() -> jax.Array:
        mixer = SLSTM(WIDTH, HEADS, convolution=0, key=jax.random.key(0))
        drive = jnp.zeros((4, HEADS, WIDTH // HEADS)).at[0].set(200.0).at[2].set(0.5)
        first = mixer.advance(mixer.start().cell, drive)
        small = mixer.advance(mixer.start().cell, drive.at[0].set(-200.0))
        return jnp.stack([first.hidden, mixer.advance(first, drive).hidden, small.hidden])

    np.testing.assert_allclose(run(), 0.5 * np.tanh(0.5), rtol=1e-5)


@pytest.mark.parametrize(("bias", "first", "last"), [
    ("powerlaw_blockdependent", 5.0, -7.0), ("small_init", 3.0, 6.0), ("zeros", 0.0, 0.0),
])  # fmt: skip
def test_forget_biases_are_those_of_the_released_code(bias: BiasInitialisation, first: float, last: float):
    biases = np.asarray(eqx.filter_jit(lambda: SLSTM(WIDTH, HEADS, bias=bias, key=jax.random.key(0)).bias)())
    np.testing.assert_allclose(biases[1, :, [0, -1]], [[first] * HEADS, [last] * HEADS], rtol=1e-5)
    assert not biases[[0, 2, 3]].any()
