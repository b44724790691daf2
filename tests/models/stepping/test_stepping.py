"""The steppers are the networks they were made of."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.core.stepping import FromStrings
from humboldt.errors import UsageError
from humboldt.languages import tasks
from humboldt.measures.bliss import evaluate
from humboldt.models import models
from humboldt.models.stepping import make_stepper
from humboldt.models.stepping.jax_stepper import JaxStepper, Padded, string_reader
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


class Causal(eqx.Module):
    """A network without `start` and `step`."""

    network: Any

    def __call__(self, tokens: Any, mask: Any, *, key: Any = None) -> Any:
        return self.network(tokens, mask, key=key)


def test_a_causal_network_without_steps_reads_whole_strings():
    model = lively("lstm", hidden_size=5)
    strings = np.random.default_rng(1).integers(0, SYMBOLS, (ROWS, STEPS))
    expected = read(make_stepper(model, STEPS, 2050)[0], strings)
    stepper = string_reader(Causal(model), pairs=4 * 16**2)  # four rows at a time
    np.testing.assert_allclose(stepper.read(strings, 0), expected, atol=2e-5)
    by_prefixes = [read(stepper, strings[:, :length])[:, -1] for length in (1, 4)]
    np.testing.assert_allclose(np.stack(by_prefixes, 1), expected[:, [0, 3]], atol=2e-5)
    assert isinstance(make_stepper(Causal(model), STEPS, 2050)[0], FromStrings)


def test_a_network_whose_steps_read_all_earlier_ones_reads_whole_strings():
    model = lively("family/transformer", width=8, heads=2, layers=2)
    strings = np.random.default_rng(1).integers(0, SYMBOLS, (ROWS, STEPS))
    stepper, rows = make_stepper(model, STEPS, 2050)
    assert isinstance(stepper, FromStrings) and rows >= ROWS
    np.testing.assert_allclose(stepper.read(strings, 0), read(JaxStepper(model, STEPS - 1), strings), atol=2e-5)


def test_reading_whole_strings_gives_the_scores_of_reading_symbols():
    language: Any = tasks.get("bliss/an_bn")()
    model = lively("lstm", hidden_size=5)
    test_set = language.test_set(after=0, count=6)
    by_symbols, whole = (make_stepper(one, 12, 2050)[0] for one in (model, Causal(model)))
    for rows in (2, 100):
        scores = [
            evaluate(test_set, stepper, exhaustive=True, most_rows=rows).scores for stepper in (by_symbols, whole)
        ]
        assert scores[0] == scores[1]


def test_how_many_rows_are_read_at_once_follows_from_the_state():
    model = lively("stack_rnn", hidden_size=5)
    assert make_stepper(model, 10, 2050)[1] == 4096 > make_stepper(model, 10_000, 2050)[1] >= 1
    with pytest.raises(UsageError, match=r"needs a state of 6.0 GB"):
        make_stepper(lively("ndstack_rnn", hidden_size=5), 10_000, 2050)


def test_an_embedded_lstm_is_read_by_numpy_too():
    model = lively("family/lstm", hidden_size=5)
    strings = np.random.default_rng(0).integers(0, SYMBOLS, (ROWS, STEPS))
    expected = jax.nn.softmax(jax.vmap(lambda t: model(t, jnp.ones(STEPS, bool)))(jnp.asarray(strings, jnp.int32)))
    stepper, _ = make_stepper(model, STEPS, 2050)
    assert isinstance(stepper, LSTMStepper)
    np.testing.assert_allclose(read(stepper, strings), expected, atol=2e-5)


def test_a_larger_stack_in_the_test_is_the_same_stack_to_begin_with():
    model = lively("marnn_stack_lstm", stack_size=100)
    strings = np.random.default_rng(1).integers(0, SYMBOLS, (ROWS, STEPS))
    few, many = (read(make_stepper(model, STEPS, cells)[0], strings) for cells in (50, 2050))
    np.testing.assert_array_equal(few, many)
