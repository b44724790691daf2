"""Trained members, asked all at once or one symbol at a time."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from training_support import Parity

from humboldt.models import models
from humboldt.models.parts.stepping import JaxStepper, make_stepper
from humboldt.models.transformer_encoder import TransformerEncoder
from humboldt.training.ensemble.members import stack_weights
from humboldt.training.ensemble.predictor import EnsemblePredictor

STEPS, ROWS, SYMBOLS = 14, 6, 3


def predictor(spec, problem: Parity | None = None, seeds: tuple[int, ...] = (0, 1, 2)) -> EnsemblePredictor:
    def build(key: jax.Array):
        return spec.build(3, 2, num_symbols=2, key=key)

    _, static = eqx.partition(build(jax.random.key(0)), eqx.is_inexact_array)
    return EnsemblePredictor(stack_weights(build, seeds), static, problem or Parity())


@pytest.fixture(scope="module")
def three() -> EnsemblePredictor:
    return predictor(models.get("rnn")(hidden_size=8))


def test_some_of_the_members(three: EnsemblePredictor):
    batch = Parity().batch(5)
    everybody = three.correct(batch)
    assert three.num_members == 3 and everybody.shape == (3, 8)
    some = three.take([2, 0])
    assert some.num_members == 2
    np.testing.assert_array_equal(some.correct(batch), everybody[[2, 0]])


def test_nats_are_minus_the_log_probability_of_the_targets(three: EnsemblePredictor):
    batch = Parity().batch(5)
    found = three.nats(batch)
    assert found.shape == (3, 8)
    model = models.get("rnn")(hidden_size=8).build(3, 2, num_symbols=2, key=jax.random.key(1))
    for row in range(8):
        logs = np.asarray(jax.nn.log_softmax(model(jnp.array(batch.tokens[row]), jnp.array(batch.mask[row]))))
        expected = -sum(logs[t, batch.targets[row, t]] for t in np.flatnonzero(batch.target_mask[row]))
        assert found[1, row] == pytest.approx(expected, rel=1e-5)


def test_what_it_offers_and_what_it_knows(three: EnsemblePredictor):
    assert three.offers("correct") and three.offers("nats") and three.offers("stepper")
    counts = three.parameters()
    assert sum(counts.values()) == sum(leaf[0].size for leaf in jax.tree.leaves(three.weights))


def test_dropout_stays_on_in_tests_where_the_problem_says_so():
    spec = TransformerEncoder(num_layers=1, width=8, num_heads=2, feed_forward_size=8, dropout=0.7)
    wet = Parity()
    wet.test_dropout_seed = 3
    batch = Parity().batch(0)
    rows = {name: np.repeat(getattr(batch, name), 4, 0) for name in type(batch).__dataclass_fields__}
    larger = type(batch)(**rows)
    off, on = predictor(spec, seeds=(0,)), predictor(spec, wet, seeds=(0,))
    np.testing.assert_array_equal(off.correct(larger, number=0), off.correct(larger, number=1))
    np.testing.assert_array_equal(on.correct(larger, number=0), on.correct(larger, number=0))
    seen = {on.correct(larger, number=number).tobytes() for number in range(4)}
    assert len({*seen, off.correct(larger).tobytes()}) > 2


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
