"""The LSTM against its equations, written out in NumPy."""

import jax
import jax.numpy as jnp
import numpy as np

from humboldt.models.lstm import LSTM, LSTMCell, gates
from humboldt.models.rnn import RNN


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def test_one_step_against_numpy():
    cell = LSTMCell(2, 3, key=jax.random.key(0))
    rng = np.random.default_rng(0)
    x, h, c = (rng.normal(size=n).astype(np.float32) for n in (2, 3, 3))
    gates = x @ np.array(cell.input.weight) + np.array(cell.input.bias) + h @ np.array(cell.recurrent.weight)
    i, g, f, o = np.split(gates, 4)
    expected_c = sigmoid(f + 1) * c + sigmoid(i) * np.tanh(g)
    expected_h = sigmoid(o) * np.tanh(expected_c)
    (new_h, new_c), output = cell((jnp.array(h), jnp.array(c)), cell.project(jnp.array(x)))
    np.testing.assert_allclose(new_c, expected_c, rtol=1e-5)
    np.testing.assert_allclose(new_h, expected_h, rtol=1e-5)
    np.testing.assert_array_equal(output, new_h)


def test_the_initial_scale_counts_input_and_state_together():
    cell = LSTM(hidden_size=64).build(36, 1, num_symbols=35, key=jax.random.key(0)).cell
    assert isinstance(cell, LSTMCell)
    for weight in (cell.input.weight, cell.recurrent.weight):
        assert abs(float(weight.std()) - 0.88 / 10) < 0.005  # 1 / sqrt(36 + 64), cut off at two deviations
        assert float(jnp.abs(weight).max()) <= 2 / 10


def test_the_backward_pass_by_hand_equals_automatic_differentiation():
    def plain(drive: jax.Array, memory: jax.Array) -> tuple[jax.Array, jax.Array]:
        i, g, f, o = jnp.split(drive, 4)
        new = jax.nn.sigmoid(f + 1) * memory + jax.nn.sigmoid(i) * jnp.tanh(g)
        return jax.nn.sigmoid(o) * jnp.tanh(new), new

    rng = np.random.default_rng(0)
    drive, memory, a, b = (jnp.array(rng.normal(size=n), jnp.float32) for n in (12, 3, 3, 3))
    for expected, found in zip(
        jax.vjp(plain, drive, memory)[1]((a, b)), jax.vjp(gates, drive, memory)[1]((a, b)), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_a_relu_before_the_readout():
    """As in the released code. An RNN's states are never negative: there it changes nothing."""
    tokens, mask = jnp.array([0, 1, 1, 2, 2]), jnp.ones(5, bool)
    for spec, has_negative in ((LSTM, True), (RNN, False)):
        plain, other = (
            spec(hidden_size=6, relu_readout=relu).build(3, 2, num_symbols=2, key=jax.random.key(0))
            for relu in (False, True)
        )
        hidden = plain.inspect(tokens, mask)["states"]
        hidden = hidden[0] if has_negative else hidden
        assert bool((hidden < 0).any()) is has_negative
        expected = jax.vmap(plain.readout)(jnp.maximum(hidden, 0))
        for found in (other(tokens, mask), other.inspect(tokens, mask)["logits"]):
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
        assert np.allclose(plain(tokens, mask), expected) is not has_negative
        np.testing.assert_allclose(other.step(other.start(tokens), tokens[0])[1], expected[0], rtol=1e-5, atol=1e-6)
