"""The LSTM as PyTorch has it."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from humboldt.models.zoo.torch_lstm import TorchLSTM


def test_weights_and_biases_are_uniform_within_the_root_of_the_hidden_size():
    network = TorchLSTM(hidden_size=64).build(3, 3, num_symbols=3, key=jax.random.key(0))
    layers: list[Any] = [network.cell.input, network.cell.recurrent, network.readout]  # pyright: ignore
    for layer in layers:
        for values in (layer.weight, layer.bias):
            assert 0.05 < float(jnp.abs(values).max()) <= 64**-0.5


def test_nothing_is_added_to_the_forget_gate():
    """PyTorch's equations, with both biases: a memory of 1 and gates as they are at zero input and state."""
    network = TorchLSTM(hidden_size=4).build(2, 2, num_symbols=2, key=jax.random.key(0))
    cell, zeros = network.cell, jnp.zeros(4)
    (_, memory), _ = cell((zeros, jnp.ones(4)), cell.project(jnp.zeros(2)))
    i, g, f, _ = np.split(np.asarray(cell.input.bias) + np.asarray(cell.recurrent.bias), 4)  # pyright: ignore
    sigmoid = lambda x: 1 / (1 + np.exp(-x))  # noqa: E731
    np.testing.assert_allclose(memory, sigmoid(f) + sigmoid(i) * np.tanh(g), rtol=1e-5)
