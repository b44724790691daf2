"""The LSTM classifier: PyTorch's start, its count of parameters, and what it reads its answer from."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.models._cell import Extent
from humboldt.models._classifier import at_last, count_parameters, uniform_lstm_cell
from humboldt.models._unroll import step_by_step
from humboldt.models.lstm_classifier import LSTMClassifier


def test_the_answer_is_read_from_the_state_after_the_last_real_token():
    model = LSTMClassifier(embedding_size=5, hidden_size=6, num_layers=2).build(
        4, 2, num_symbols=4, key=jax.random.key(0)
    )
    tokens = jnp.array([3, 1, 2, 0, 0])
    logits = model(tokens, jnp.arange(5) < 3)
    values = model.embedding.weight[tokens[:3]]
    for cell in model.cells:
        _, values = step_by_step(cell, cell.init_state(Extent.of(jnp.ones(3, bool))), values)
    np.testing.assert_allclose(logits, jnp.tile(model.readout(values[-1]), (5, 1)), rtol=1e-5, atol=1e-6)


def test_the_last_real_row():
    values = jnp.arange(8.0).reshape(4, 2)
    assert at_last(values, jnp.array([True, True, False, False])).tolist() == [2.0, 3.0]
    assert at_last(values, jnp.ones(4, bool)).tolist() == [6.0, 7.0]


def test_the_cell_begins_as_pytorchs():
    cell = uniform_lstm_cell(64, 100, key=jax.random.key(0))
    for layer in (cell.input, cell.recurrent):
        assert layer.bias is not None
        assert abs(float(layer.weight.std()) - 0.1 / 3**0.5) < 0.001 and float(jnp.abs(layer.weight).max()) <= 0.1
    # With nothing in memory or input, the forget gate is σ of the two biases alone: about one half, not σ(1).
    assert cell.input.bias is not None and cell.recurrent.bias is not None
    gate = jax.nn.sigmoid(cell.input.bias + cell.recurrent.bias + 1)[200:300]
    assert abs(float(gate.mean()) - 0.5) < 0.01
    others = jnp.concatenate([cell.input.bias[:200], cell.input.bias[300:]])
    assert float(jnp.abs(others).max()) <= 0.1


@pytest.mark.parametrize(("num_layers", "printed"), [(1, "0.53"), (2, "1.05")])
def test_two_layers_have_the_parameters_that_the_paper_prints(num_layers: int, printed: str):
    model = LSTMClassifier(num_layers=num_layers).build(10, 2, num_symbols=10, key=jax.random.key(0))
    counts = count_parameters(model)
    assert counts["embedding"] == 2560 and counts["readout"] == 514
    assert counts["body"] == num_layers * 4 * (256 * 256 + 256 * 256 + 2 * 256)
    assert f"{counts['body'] / 1e6:.2f}" == printed


def test_words_that_do_not_occur_have_no_gradient():
    model = LSTMClassifier(embedding_size=3, hidden_size=4).build(50_000, 2, num_symbols=50_000, key=jax.random.key(0))
    tokens = jnp.array([7, 49_999, 0])

    def loss(weight: jax.Array) -> jax.Array:
        changed = jax.tree.map(lambda leaf: weight if leaf is model.embedding.weight else leaf, model)
        return (changed(tokens, jnp.array([True, True, False]))[0] ** 2).sum()

    gradient = jax.grad(loss)(model.embedding.weight)
    assert jnp.flatnonzero(jnp.abs(gradient).sum(1)).tolist() == [7, 49_999]  # and padding (id 0) has none


def test_sizes_are_checked():
    with pytest.raises(ValueError, match="hidden_size is 0, but must be at least 1"):
        LSTMClassifier(hidden_size=0)
