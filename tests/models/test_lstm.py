"""The LSTM against its equations, written out in NumPy."""

import jax
import jax.numpy as jnp
import numpy as np

from humboldt.models.lstm import LSTM


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def test_one_step_against_numpy():
    cell = LSTM(hidden_size=3).build(2, 1, num_symbols=1, key=jax.random.key(0)).cell
    rng = np.random.default_rng(0)
    x, h, c = (rng.normal(size=n).astype(np.float32) for n in (2, 3, 3))
    gates = np.array(cell.input.weight) @ x + np.array(cell.input.bias) + np.array(cell.recurrent.weight) @ h
    i, g, f, o = np.split(gates, 4)
    expected_c = sigmoid(f + 1) * c + sigmoid(i) * np.tanh(g)
    expected_h = sigmoid(o) * np.tanh(expected_c)
    (new_h, new_c), output = cell((jnp.array(h), jnp.array(c)), cell.project(jnp.array(x)))
    np.testing.assert_allclose(new_c, expected_c, rtol=1e-5)
    np.testing.assert_allclose(new_h, expected_h, rtol=1e-5)
    np.testing.assert_array_equal(output, new_h)


def test_the_initial_scale_counts_input_and_state_together():
    cell = LSTM(hidden_size=64).build(36, 1, num_symbols=35, key=jax.random.key(0)).cell
    for weight in (cell.input.weight, cell.recurrent.weight):
        assert abs(float(weight.std()) - 0.88 / 10) < 0.005  # 1 / sqrt(36 + 64), cut off at two deviations
        assert float(jnp.abs(weight).max()) <= 2 / 10
