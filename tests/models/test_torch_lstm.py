"""The LSTM as PyTorch has it."""

import jax
import jax.numpy as jnp
import numpy as np

from humboldt.models import models


def test_weights_and_biases_are_uniform_within_the_root_of_the_hidden_size():
    model = models.get("torch_lstm")(hidden_size=64).build(3, 3, num_symbols=3, key=jax.random.key(0))
    for layer in (model.cell.input, model.cell.recurrent, model.readout):
        for values in (layer.weight, layer.bias):
            assert np.abs(values).max() <= 64**-0.5 and np.abs(values).max() > 0.05
    flat = np.asarray(model.cell.recurrent.weight).ravel() * 8
    np.testing.assert_allclose(flat.std(), 3**-0.5, rtol=0.02)  # of a uniform in [-1, 1]


def test_one_step_by_hand():
    model = models.get("torch_lstm")(hidden_size=1).build(2, 2, num_symbols=2, key=jax.random.key(0))
    cell = model.cell
    drive = np.asarray(cell.input.weight[1] + cell.input.bias + cell.recurrent.bias) + 0.3 * np.asarray(
        cell.recurrent.weight[0]
    )
    i, g, f, o = drive
    sigmoid = lambda x: 1 / (1 + np.exp(-x))  # noqa: E731
    memory = sigmoid(f) * -0.2 + sigmoid(i) * np.tanh(g)
    (hidden, new), _ = cell((jnp.array([0.3]), jnp.array([-0.2])), cell.project(jnp.array([0.0, 1.0])))
    np.testing.assert_allclose(new, [memory], rtol=1e-5)
    np.testing.assert_allclose(hidden, [sigmoid(o) * np.tanh(memory)], rtol=1e-5)
