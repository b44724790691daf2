"""The memories of Suzgun et al. (2019), against slow loops and against a network whose weights were set by hand."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.languages.bliss import get
from humboldt.measures.bliss import evaluate
from humboldt.models import models
from humboldt.models._cell import Extent
from humboldt.models._marnn import PushPopStack, RotatingTape
from humboldt.suites._bliss_steppers_training import make_stepper

KEY = jax.random.key(0)


def slow_ring(ring: list[float], moves: list[float], value: float) -> list[float]:
    """One step of a ring of numbers, move by move."""
    size = len(ring)
    moved = {
        "left": [ring[(i + 1) % size] for i in range(size)],
        "right": [ring[(i - 1) % size] for i in range(size)],
        "stay": list(ring),
        "pop_right": [0.0, *ring[:-1]],
        "pop_left": [*ring[1:], 0.0],
    }
    new = [sum(weight * cells[i] for weight, cells in zip(moves, moved.values(), strict=True)) for i in range(size)]
    return [new[0] + value, *new[1:]]


def test_the_five_moves_of_the_tape():
    tape = RotatingTape(4, cell_size=1, most_cells=4, key=KEY)
    rng = np.random.default_rng(0)
    cells = [1.0, 2.0, 3.0, 4.0]
    for move in range(5):
        moves = np.eye(5, dtype=np.float32)[move]
        found = tape.act(jnp.array(cells)[:, None], (jnp.asarray(moves), jnp.array([0.5])))
        np.testing.assert_allclose(found[:, 0], slow_ring(cells, moves.tolist(), 0.5))
    for _ in range(6):
        moves = rng.dirichlet(np.ones(5)).astype(np.float32)
        found = tape.act(jnp.array(cells)[:, None], (jnp.asarray(moves), jnp.array([0.25])))
        cells = slow_ring(cells, moves.tolist(), 0.25)
        np.testing.assert_allclose(found[:, 0], cells, rtol=1e-5)


def test_a_stack_that_is_sure_is_a_list():
    stack = PushPopStack(4, cell_size=1, most_cells=5, key=KEY)
    memory, plain = stack.init(Extent.of(jnp.ones(9, bool))), []
    assert memory.shape == (5, 1)
    for action, value in [(0, 0.1), (0, 0.2), (1, 0.9), (0, 0.3), (1, 0.9), (1, 0.9), (1, 0.9), (0, 0.4)]:
        memory = stack.act(memory, (jnp.eye(2)[action], jnp.array([value])))
        plain = [value, *plain] if action == 0 else plain[1:]
        np.testing.assert_allclose(memory[:, 0], [*plain, *[0.0] * (5 - len(plain))], atol=1e-7)


def bracket_counter():
    """A Stack-LSTM that knows Dyck-1, its weights set by hand.

    It pushes at `(` and pops otherwise. A cell holds (1, whether the stack was empty), so that when `)` is read, the
    first cell tells whether this closes the last bracket. Hidden units: 0 "read (", 1 "read ) and it was the last",
    2 "read ( on an empty stack", 3 "read #"; 4 and 5 stay silent, and hear the first cell.
    """
    model = models.get("marnn_stack_lstm")().build(3, 3, num_symbols=3, key=KEY)
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
    found = evaluate(test_set, stepper, most_rows=rows)
    assert found.complete
    assert all(score.met_over_test_set and score.met_per_string for score in found.scores)


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
    pushes = model.inspect(tokens, jnp.ones(len(tokens), bool))["actions"][0][:, 0]
    np.testing.assert_allclose(pushes, [0, 1, 1, 0, 0, 1, 0], atol=1e-6)
