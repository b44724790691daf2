"""The LSTM classifiers: what they read their answers from, and how many parameters they have."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.models.cells.base import Extent
from humboldt.models.loop.unroll import step_by_step
from humboldt.models.networks.lstm_classifier import reversed_within
from humboldt.models.networks.parameters import count_parameters
from humboldt.models.zoo.bilstm_classifier import BiLSTMClassifier
from humboldt.models.zoo.lstm_classifier import LSTMClassifier

KEY = jax.random.key(0)


def test_the_answer_is_read_from_the_state_after_the_last_real_token():
    model = LSTMClassifier(embedding_size=5, hidden_size=6, num_layers=2).build(4, 2, num_symbols=4, key=KEY)
    tokens = jnp.array([3, 1, 2, 0, 0])
    logits = model(tokens, jnp.arange(5) < 3)
    values = model.embedding.weight[tokens[:3]]
    for cell in model.cells:
        _, values = step_by_step(cell, cell.init_state(Extent.of(jnp.ones(3, bool))), values)
    np.testing.assert_allclose(logits, jnp.tile(model.readout(values[-1]), (5, 1)), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("num_layers", "printed"), [(1, "0.53"), (2, "1.05")])
def test_two_layers_have_the_parameters_that_the_paper_prints(num_layers: int, printed: str):
    spec = LSTMClassifier(num_layers=num_layers)
    model = eqx.filter_eval_shape(lambda key: spec.build(10, 2, num_symbols=10, key=key), KEY)
    counts = count_parameters(model)
    assert counts["embedding"] == 2560 and counts["readout"] == 514
    assert counts["body"] == num_layers * 4 * (256 * 256 + 256 * 256 + 2 * 256)
    assert f"{counts['body'] / 1e6:.2f}" == printed


def test_words_that_do_not_occur_have_no_gradient():
    model = LSTMClassifier(embedding_size=3, hidden_size=4).build(50_000, 2, num_symbols=50_000, key=KEY)
    tokens = jnp.array([7, 49_999, 0])

    def loss(weight: jax.Array) -> jax.Array:
        changed = jax.tree.map(lambda leaf: weight if leaf is model.embedding.weight else leaf, model)
        return (changed(tokens, jnp.array([True, True, False]))[0] ** 2).sum()

    gradient = jax.grad(loss)(model.embedding.weight)
    assert jnp.flatnonzero(jnp.abs(gradient).sum(1)).tolist() == [7, 49_999]  # and padding (id 0) has none


def small_bilstm():
    return BiLSTMClassifier(embedding_size=5, hidden_size=6).build(4, 2, num_symbols=4, key=KEY)


def test_the_backward_half_reads_the_reversed_string():
    model, tokens = small_bilstm(), jnp.array([3, 1, 2, 0, 0])
    logits = model(tokens, jnp.arange(5) < 3)

    def last(cell, string: list[int]) -> jax.Array:
        start = cell.init_state(Extent.of(jnp.ones(3, bool)))
        return step_by_step(cell, start, model.embedding.weight[jnp.array(string)])[1][-1]

    both = jnp.concatenate([last(model.forwards, [3, 1, 2]), last(model.backwards, [2, 1, 3])])
    np.testing.assert_allclose(logits[0], model.readout(both), rtol=1e-5, atol=1e-6)


def test_exchanging_the_directions_reverses_the_string():
    model, mask = small_bilstm(), jnp.arange(6) < 4
    tokens = jnp.array([3, 1, 2, 2, 0, 0])
    exchanged = eqx.tree_at(
        lambda m: (m.forwards, m.backwards, m.readout.weight),
        model,
        (model.backwards, model.forwards, jnp.roll(model.readout.weight, 6, axis=0)),
    )
    np.testing.assert_allclose(
        exchanged(jnp.array([2, 2, 1, 3, 0, 0]), mask), model(tokens, mask), rtol=1e-5, atol=1e-6
    )


def test_padding_stays_at_the_end():
    tokens, mask = jnp.array([5, 6, 7, 0, 9]), jnp.arange(5) < 3
    assert reversed_within(tokens, mask).tolist() == [7, 6, 5, 0, 9]
    assert reversed_within(tokens, jnp.ones(5, bool)).tolist() == [9, 0, 7, 6, 5]


def test_a_hidden_size_of_256_has_the_parameters_that_the_paper_prints():
    for hidden_size, thousands in ((128, 264), (256, 791)):
        spec = BiLSTMClassifier(hidden_size=hidden_size)
        model = eqx.filter_eval_shape(lambda key, spec=spec: spec.build(10, 2, num_symbols=10, key=key), KEY)
        assert round(count_parameters(model)["body"] / 1000) == thousands
