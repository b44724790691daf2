"""Trained members, asked all at once or one symbol at a time."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from training_support import Parity

from humboldt.languages import Batch, ProblemKind
from humboldt.models import models
from humboldt.models.zoo.transformer_encoder import TransformerEncoder
from humboldt.training.abilities import CountsRight, GivesProbabilities, ReadsSymbols
from humboldt.training.base import AbstractProblem
from humboldt.training.ensemble.members import stack_weights
from humboldt.training.ensemble.predictor import EnsemblePredictor


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
    assert isinstance(three, CountsRight) and isinstance(three, GivesProbabilities) and isinstance(three, ReadsSymbols)
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


def test_a_member_can_be_read_symbol_by_symbol(three: EnsemblePredictor):
    """What steppers say is tested with the models; here, that it is this member's network."""
    batch = Parity().batch(5)
    model = three.model(2)
    stepper, rows = three.stepper(2, longest=batch.time, most_memory=100)
    state = stepper.init(1)
    logits = jax.nn.softmax(model(jnp.array(batch.tokens[0]), jnp.array(batch.mask[0])))
    for t, token in enumerate(batch.tokens[0]):
        state, distribution = stepper.step(state, np.array([token]))
        np.testing.assert_allclose(distribution[0], logits[t], atol=1e-5)
    assert rows > 0


class Copying(AbstractProblem):
    """Sources of symbols 0 and 1, targets the same with an end mark, 2; 3 is the start mark."""

    kind = ProblemKind.SEQUENCE_TO_SEQUENCE
    symbols, input_size, output_size, num_symbols, batch_size, longest = ("a", "b"), 3, 4, 2, 3, 5
    start, end, longest_target = 3, 2, 6

    def batch(self, step: int) -> Batch:
        rng = np.random.default_rng(step)
        lengths, place = np.array([[5], [2], [3]]), np.arange(6)[None, :]
        tokens = np.where(place[:, :5] < lengths, rng.integers(0, 2, (3, 5)), 0).astype(np.int32)
        targets = np.where(place < lengths, np.pad(tokens, [(0, 0), (0, 1)]), 2 * (place == lengths)).astype(np.int32)
        return Batch(tokens, place[:, :5] < lengths, targets, place <= lengths, np.ones(3, np.float32))


@pytest.mark.parametrize("name", ["lstm_s2s", "cnn_s2s", "transformer_s2s"])
def test_sequence_to_sequence_members_told_the_symbols_before(name: str):
    spec, problem = models.get(name)(**models.get(name).tiny), Copying()

    def build(key: jax.Array):
        return spec.build(3, 4, num_symbols=2, key=key)

    _, static = eqx.partition(build(jax.random.key(0)), eqx.is_inexact_array)
    members = EnsemblePredictor(stack_weights(build, [4, 5]), static, problem)
    batch, call = problem.batch(0), eqx.filter_jit(lambda model, *arrays: model(*arrays))
    right, nats, vectors = members.correct(batch), members.nats(batch), members.source_vectors()
    assert vectors is not None and vectors.shape[:2] == (2, 3)
    for member, seed in enumerate((4, 5)):
        model = build(jax.random.key(seed))
        for row in range(3):
            told = np.concatenate([[3], batch.targets[row, :-1]]).astype(np.int32)
            logits = call(model, batch.tokens[row], batch.mask[row], told, batch.target_mask[row])
            real = np.flatnonzero(batch.target_mask[row])
            assert right[member, row] == sum(int(logits[t].argmax()) == batch.targets[row, t] for t in real)
            logs = jax.nn.log_softmax(logits)
            assert nats[member, row] == pytest.approx(
                -sum(float(logs[t, batch.targets[row, t]]) for t in real), rel=1e-4
            )


@pytest.mark.parametrize("name", ["lstm_s2s", "cnn_s2s"])
def test_members_write_the_same_side_by_side_as_in_turn(name: str, monkeypatch: pytest.MonkeyPatch):
    """On an accelerator all members write at once. The number of symbols is part of a program, hence the other one."""
    spec, problem = models.get(name)(**models.get(name).tiny), Copying()

    def build(key: jax.Array):
        model = spec.build(3, 4, num_symbols=2, key=key)
        return jax.tree.map(lambda x: 3 * x if eqx.is_inexact_array(x) else x, model)  # so that outputs differ

    _, static = eqx.partition(build(jax.random.key(0)), eqx.is_inexact_array)
    members = EnsemblePredictor(stack_weights(build, [4, 5, 6]), static, problem)
    in_turn = members.outputs(problem.batch(0), 7)
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    at_once = members.outputs(problem.batch(0), 8)
    assert at_once.shape == (3, 3, 8) and len({row.tobytes() for row in in_turn.reshape(9, 7)}) > 1
    np.testing.assert_array_equal(at_once[..., :7], in_turn)
