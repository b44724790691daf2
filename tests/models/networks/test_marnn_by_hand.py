"""A Stack-LSTM of Suzgun et al. (2019) whose weights were set by hand."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.languages.bliss import get
from humboldt.measures.bliss import evaluate
from humboldt.models.stepping import make_stepper
from humboldt.models.zoo.marnn_stack_lstm import MarnnStackLSTM


def bracket_counter():
    """A Stack-LSTM that knows Dyck-1, its weights set by hand.

    It pushes at `(` and pops otherwise. A cell holds (1, whether the stack was empty), so that when `)` is read, the
    first cell tells whether this closes the last bracket. Hidden units: 0 "read (", 1 "read ) and it was the last",
    2 "read ( on an empty stack", 3 "read #"; 4 and 5 stay silent, and hear the first cell.
    """
    model = MarnnStackLSTM().build(3, 3, num_symbols=3, key=jax.random.key(0))
    model = jax.tree.map(lambda x: np.zeros_like(x) if eqx.is_inexact_array(x) else x, model)
    cell, big, high = model.cell, 100.0, np.tanh(1.0)
    hash_, opening, closing = 0, 1, 2

    enter, new, keep, leave = (slice(8 * gate, 8 * gate + 8) for gate in range(4))
    bias = cell.controller.input.bias
    bias[enter], bias[keep], bias[leave] = big, -big, big
    bias[leave][4:] = -big  # silent units
    drive, recurrent = cell.controller.input.weight[:, new], cell.controller.recurrent.weight[:, new]
    units = bias[new]
    drive[opening, 0], units[0] = 2 * big, -big
    drive[closing, 1], recurrent[5, 1], units[1] = big, big, -1.5 * big
    drive[opening, 2], recurrent[4, 2], units[2] = big, -big, -0.5 * big
    drive[hash_, 3], units[3] = 2 * big, -big
    cell.reading.weight[0, 4] = cell.reading.weight[1, 5] = 1

    cell.memory.action.weight[0] = [2 * big, -2 * big]
    cell.memory.value.bias[0] = big
    cell.memory.value.weight[2, 1] = big
    # Closed if unit 1 or unit 3 is on: then ) is impossible, otherwise # is.
    model.readout.weight[1] = model.readout.weight[3] = [big, 0, -big]
    model.readout.bias[:] = [big * high, big * high, -big * high]
    return model


def test_a_stack_lstm_set_by_hand_knows_dyck_1():
    model = bracket_counter()
    language = get("dyck_1")
    test_set = language.test_set(after=0, count=300)
    stepper, rows = make_stepper(model, int(test_set.lengths.max()), 2050)
    evaluation = evaluate(test_set, stepper, most_rows=rows)
    assert evaluation.complete
    assert all(score.met_over_test_set and score.met_per_string for score in evaluation.scores)


@pytest.mark.parametrize("string", ["(())()", "((()))", "()()()"])
def test_it_knows_it_as_a_model_too(string: str):
    model = jax.tree.map(lambda x: jnp.asarray(x) if isinstance(x, np.ndarray) else x, bracket_counter())
    language = get("dyck_1")
    tokens = jnp.asarray([0, *language.input_alphabet.encode(string)], jnp.int32)
    chances = np.asarray(jax.nn.softmax(model(tokens, jnp.ones(len(tokens), bool))))
    np.testing.assert_array_equal(chances > 0.005, language.valid_mask(string))


def test_inspection_shows_what_it_does_to_its_stack():
    model = jax.tree.map(lambda x: jnp.asarray(x) if isinstance(x, np.ndarray) else x, bracket_counter())
    tokens = jnp.asarray([0, *get("dyck_1").input_alphabet.encode("(())()")], jnp.int32)
    pushes = model.inspect(tokens, jnp.ones(len(tokens), bool))["actions"].values[:, 0]
    np.testing.assert_allclose(pushes, [0, 1, 1, 0, 0, 1, 0], atol=1e-6)
