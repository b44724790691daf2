"""The steppers are the networks they were made of."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.errors import UsageError
from humboldt.models import models
from humboldt.models.stepping import make_stepper
from humboldt.models.stepping.jax_stepper import JaxStepper, Padded
from humboldt.models.stepping.lstm import LSTMStepper

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
        ("lstm", {"hidden_size": 5}, 2050),  # adds 1 to its forget gate
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


@pytest.mark.parametrize(("name", "settings"), [("tape_rnn", {"hidden_size": 8}), ("lstm", {"relu_readout": True})])
def test_any_other_network_that_can_take_steps_is_run_by_jax(name: str, settings: dict):
    model = lively(name, **{"hidden_size": 5, **settings})
    strings = np.random.default_rng(0).integers(0, SYMBOLS, (ROWS, STEPS))
    expected = jax.nn.softmax(
        jax.vmap(lambda t: model(t, jnp.ones(STEPS, bool)))(jnp.asarray(strings, jnp.int32)), axis=-1
    )
    stepper, _ = make_stepper(model, STEPS - 1, 2050)
    assert isinstance(stepper, Padded) and isinstance(stepper.stepper, JaxStepper)
    np.testing.assert_allclose(read(stepper.stepper, strings), expected, atol=2e-5)


def test_an_lstm_is_read_by_numpy():
    assert isinstance(make_stepper(lively("lstm", hidden_size=5), STEPS, 2050)[0], LSTMStepper)


def test_a_network_that_sees_everything_at_once_is_refused():
    with pytest.raises(UsageError, match=r"CNNNetwork cannot be read one symbol at a time.*Derive it from"):
        make_stepper(lively("cnn"), STEPS, 2050)


def test_a_larger_stack_in_the_test_is_the_same_stack_to_begin_with():
    model = lively("marnn_stack_lstm", stack_size=100)
    strings = np.random.default_rng(1).integers(0, SYMBOLS, (ROWS, STEPS))
    few, many = (read(make_stepper(model, STEPS, cells)[0], strings) for cells in (50, 2050))
    np.testing.assert_array_equal(few, many)
