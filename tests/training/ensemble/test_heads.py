"""Further heads of classifiers: their losses by hand, and networks that have them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.models.networks.heads import WithHeads
from humboldt.models.zoo.family.lstm import LSTM
from humboldt.training.base import Heads
from humboldt.training.ensemble.heads import loss_of_heads
from humboldt.training.ensemble.steps import Examples

MARK = 2  # after the symbols 0 and 1


def batch() -> Examples:
    """`0 1` is in the language, `1` is not, and the empty string is."""
    tokens = jnp.array([[0, 1, MARK, 0], [1, MARK, 0, 0], [MARK, 0, 0, 0]])
    ends = tokens == MARK
    sets = jnp.array([[0b110, 0b100, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
    labels = jnp.array([[1], [0], [1]])
    mask = jnp.arange(4)[None] <= ends.argmax(1)[:, None]
    return Examples(tokens, mask, jnp.where(ends, labels, sets), ends, jnp.ones(3))


@pytest.mark.parametrize("weights", [(1.0, 0.0), (0.0, 2.0), (0.5, 3.0)])
def test_losses_are_those_of_the_only_string_of_class_1_that_has_symbols(weights: tuple[float, float]):
    heads = Heads(answers=2, symbols=2, next_symbol=weights[0], next_set=weights[1])
    assert heads.outputs == 2 + 3 * sum(weight > 0 for weight in weights)
    outputs = np.random.default_rng(0).normal(size=(3, 4, heads.outputs)).astype(np.float32)
    first, expected = 2, 0.0
    if weights[0]:
        rows = outputs[0, :2, 2:5]
        chances = np.exp(rows) / np.exp(rows).sum(1, keepdims=True)
        expected -= weights[0] * np.mean([np.log(chances[0, 1]), np.log(chances[1, MARK])])
        first = 5
    if weights[1]:
        chances = 1 / (1 + np.exp(-outputs[0, :2, first:]))
        possible = np.array([[0, 1, 1], [0, 0, 1]])
        expected -= weights[1] * np.log(np.where(possible, chances, 1 - chances)).mean()
    assert float(loss_of_heads(heads, jnp.asarray(outputs), batch())) == pytest.approx(expected, rel=1e-5)


def test_a_batch_without_strings_of_class_1_has_no_further_loss():
    examples = batch()
    none = examples._replace(targets=jnp.zeros_like(examples.targets))
    heads = Heads(answers=2, symbols=2, next_symbol=1.0, next_set=1.0)
    assert float(loss_of_heads(heads, jnp.ones((3, 4, heads.outputs)), none)) == 0.0


def test_a_network_with_heads_answers_with_its_first_outputs():
    network = LSTM(hidden_size=4).build(3, 8, num_symbols=2, key=jax.random.key(0))
    tokens, mask = jnp.array([0, 1, MARK]), jnp.ones(3, bool)
    both = WithHeads(network, 2)
    np.testing.assert_array_equal(both(tokens, mask), network(tokens, mask)[:, :2])
    assert both.embedding is network.embedding and both.readout is network.readout
