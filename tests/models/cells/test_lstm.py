"""The LSTM against its equations, written out in NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.models.cells.lstm import LSTMCell, gates, normal_lstm_cell, uniform_lstm_cell


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def cells() -> list[LSTMCell]:
    keys = jax.random.split(jax.random.key(0), 3)
    return [normal_lstm_cell(2, 3, key=keys[0]), uniform_lstm_cell(2, 3, keys=keys[1:])]


@pytest.mark.parametrize(("index", "forget_offset"), [(0, 1), (1, 0)])
def test_one_step_against_numpy(index: int, forget_offset: int):
    cell = cells()[index]
    rng = np.random.default_rng(0)
    x, h, c = (rng.normal(size=n).astype(np.float32) for n in (2, 3, 3))
    drive = x @ np.array(cell.input.weight) + np.array(cell.input.bias) + h @ np.array(cell.recurrent.weight)
    drive = drive if cell.recurrent.bias is None else drive + np.array(cell.recurrent.bias)
    i, g, f, o = np.split(drive, 4)
    expected_c = sigmoid(f + forget_offset) * c + sigmoid(i) * np.tanh(g)
    expected_h = sigmoid(o) * np.tanh(expected_c)
    (new_h, new_c), output = cell((jnp.array(h), jnp.array(c)), cell.project(jnp.array(x)))
    np.testing.assert_allclose(new_c, expected_c, rtol=1e-5)
    np.testing.assert_allclose(new_h, expected_h, rtol=1e-5)
    np.testing.assert_array_equal(output, new_h)


def test_the_initial_scale_counts_input_and_state_together():
    cell = normal_lstm_cell(36, 64, key=jax.random.key(0))
    for weight in (cell.input.weight, cell.recurrent.weight):
        assert abs(float(weight.std()) - 0.88 / 10) < 0.005  # 1 / sqrt(36 + 64), cut off at two deviations
        assert float(jnp.abs(weight).max()) <= 2 / 10


def test_the_uniform_cell_starts_as_pytorchs():
    cell = uniform_lstm_cell(64, 100, keys=jax.random.split(jax.random.key(0)))
    for layer in (cell.input, cell.recurrent):
        assert layer.bias is not None
        assert abs(float(layer.weight.std()) - 0.1 / 3**0.5) < 0.001  # of a uniform within ± 0.1
        for values in (layer.weight, layer.bias):
            assert 0.09 < float(jnp.abs(values).max()) <= 0.1


@pytest.mark.parametrize("forget_offset", [0.0, 1.0])
def test_the_backward_pass_by_hand_equals_automatic_differentiation(forget_offset: float):
    def plain(drive: jax.Array, memory: jax.Array) -> tuple[jax.Array, jax.Array]:
        i, g, f, o = jnp.split(drive, 4)
        new = jax.nn.sigmoid(f + forget_offset) * memory + jax.nn.sigmoid(i) * jnp.tanh(g)
        return jax.nn.sigmoid(o) * jnp.tanh(new), new

    rng = np.random.default_rng(0)
    drive, memory, a, b = (jnp.array(rng.normal(size=n), jnp.float32) for n in (12, 3, 3, 3))
    by_hand = jax.vjp(lambda drive, memory: gates(drive, memory, forget_offset), drive, memory)[1]((a, b))
    for gradient, expected in zip(by_hand, jax.vjp(plain, drive, memory)[1]((a, b)), strict=True):
        np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)
