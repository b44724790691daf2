"""The steppers are the models they were made of."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.models import models
from humboldt.suites._bliss_steppers_training import JaxStepper, make_stepper

STEPS, ROWS, SYMBOLS = 14, 6, 3


def lively(name: str, **settings):
    """A model with weights large enough that its memory moves."""
    model = models.get(name)(**settings).build(SYMBOLS, SYMBOLS, num_symbols=SYMBOLS, key=jax.random.key(5))
    return jax.tree.map(lambda x: 3 * x if eqx.is_inexact_array(x) else x, model)


def read(stepper, strings: np.ndarray) -> np.ndarray:
    """Distributions at every step. Rows are swapped on the way, and one is read twice for a while."""
    state, found = stepper.init(len(strings)), []
    for t in range(strings.shape[1]):
        order = np.arange(len(strings))[::-1] if t % 3 else np.arange(len(strings))
        state, distributions = stepper.step(stepper.take(state, order), strings[order, t])
        back = np.argsort(order)
        state = stepper.take(state, np.append(back, 0))
        state = stepper.take(state, np.arange(len(strings)))
        found.append(np.asarray(distributions)[back])
    return np.stack(found, 1)


@pytest.mark.parametrize(
    ("name", "settings", "most_cells"),
    [
        ("torch_lstm", {"hidden_size": 5}, 2050),
        ("marnn_stack_lstm", {}, 2050),
        ("baby_ntm", {}, 2050),
        ("marnn_stack_lstm", {"stack_size": 4}, 4),  # what is pushed too deep is lost
        ("baby_ntm", {"tape_size": 5}, 5),  # the ring closes
    ],
)
def test_a_stepper_says_what_the_model_says(name: str, settings: dict, most_cells: int):
    model = lively(name, **settings)
    strings = np.random.default_rng(0).integers(0, SYMBOLS, (ROWS, STEPS))
    tokens = jnp.asarray(strings, jnp.int32)
    expected = jax.nn.softmax(jax.vmap(lambda t: model(t, jnp.ones(STEPS, bool)))(tokens))
    stepper, _ = make_stepper(model, STEPS, most_cells)
    np.testing.assert_allclose(read(stepper, strings), expected, atol=2e-5)


def test_any_recurrent_model_can_be_stepped():
    model = lively("tape_rnn", hidden_size=8)
    strings = np.random.default_rng(0).integers(0, SYMBOLS, (ROWS, STEPS))
    expected = jax.nn.softmax(
        jax.vmap(lambda t: model(t, jnp.ones(STEPS, bool)))(jnp.asarray(strings, jnp.int32)), axis=-1
    )
    np.testing.assert_allclose(read(JaxStepper(model, STEPS - 1), strings), expected, atol=2e-5)


def test_a_larger_stack_in_the_test_is_the_same_stack_to_begin_with():
    model = lively("marnn_stack_lstm", stack_size=100)
    strings = np.random.default_rng(1).integers(0, SYMBOLS, (ROWS, STEPS))
    few, many = (read(make_stepper(model, STEPS, cells)[0], strings) for cells in (50, 2050))
    np.testing.assert_array_equal(few, many)
