"""The BiLSTM classifier: its backward half is a forward pass over the reversed string."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from humboldt.models._cell import Extent
from humboldt.models._classifier import count_parameters
from humboldt.models._unroll import step_by_step
from humboldt.models.bilstm_classifier import BiLSTMClassifier, reversed_within


def small():
    return BiLSTMClassifier(embedding_size=5, hidden_size=6).build(4, 2, num_symbols=4, key=jax.random.key(0))


def test_the_backward_half_reads_the_reversed_string():
    model, tokens = small(), jnp.array([3, 1, 2, 0, 0])
    logits = model(tokens, jnp.arange(5) < 3)

    def last(cell, string: list[int]) -> jax.Array:
        start = cell.init_state(Extent.of(jnp.ones(3, bool)))
        return step_by_step(cell, start, model.embedding.weight[jnp.array(string)])[1][-1]

    both = jnp.concatenate([last(model.forwards, [3, 1, 2]), last(model.backwards, [2, 1, 3])])
    np.testing.assert_allclose(logits[0], model.readout(both), rtol=1e-5, atol=1e-6)


def test_exchanging_the_directions_reverses_the_string():
    model, mask = small(), jnp.arange(6) < 4
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
        model = BiLSTMClassifier(hidden_size=hidden_size).build(10, 2, num_symbols=10, key=jax.random.key(0))
        assert round(count_parameters(model)["body"] / 1000) == thousands
