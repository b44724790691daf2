"""Programs that train members together, stacked or as CUDA graphs: the losses of plain steps."""

import weakref
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.func import vmap
from torch_modules import (
    BatchNorm,
    Dropping,
    EncoderDecoder,
    PackedBothWays,
    Plain,
)
from torch_recorder import Recorder
from torch_roads import AWKWARD, PCFG_SET, PROGRAMS, TRANSFORMER, job, plain_steps
from torch_support import LSTM, job_of, registered

from humboldt.languages import Batch
from humboldt.training.base import Schedule
from humboldt.training.engines.torch import _training
from humboldt.training.pytorch import roads
from humboldt.training.pytorch.graphs import Graphs
from humboldt.training.pytorch.plain_layers import PlainLayers
from humboldt.training.pytorch.recording import CannotRecord, Direct
from humboldt.training.pytorch.stacked import Stack

pytestmark = pytest.mark.extras


RECORDED = [
    module for module, reason in AWKWARD if reason is None and module is not LSTM
]  # one_hot reads tokens on a CPU


@pytest.mark.parametrize("module", RECORDED)
def test_awkward_modules_that_are_stacked_can_be_recorded(module: type):
    training = _training(job(module, steps=12))
    batches, learners = training.batches(0, 12), [training.fresh(member) for member in training.members]
    plain = [training.fresh(member) for member in training.members]
    expected = []
    for number, learner in enumerate(plain):
        expected.append(training._span(learner, number, 0, [training._examples(batch, number) for batch in batches]))
    made = Stack(training, Recorder(training.caller.device))
    found = [made.advance(learners, first, batches[first : first + 6], np.ones(3)) for first in (0, 6)]
    assert made.not_recorded is None
    np.testing.assert_allclose(np.concatenate(found, -1), np.array(expected).transpose(2, 0, 1), rtol=1e-4, atol=1e-5)
    for mine, other in zip(learners, plain, strict=True):
        buffers = dict(other.module.named_buffers())
        for name, x in mine.module.named_buffers():
            torch.testing.assert_close(x, buffers[name])


def test_stacked_weights_are_not_moved_as_those_of_one_module_on_a_gpu(monkeypatch: pytest.MonkeyPatch):
    """There, `flatten_parameters` asks for addresses, which weights of several members do not have."""
    training = _training(job(Plain, steps=2))
    made, learners = Stack(training), [training.fresh(member) for member in training.members]
    flatten = nn.RNNBase.flatten_parameters

    def strict(layer: nn.RNNBase) -> None:
        is_batched: Any = torch._C._functorch.is_batchedtensor  # pyright: ignore[reportAttributeAccessIssue]
        assert not any(map(is_batched, layer._flat_weights))
        flatten(layer)

    monkeypatch.setattr(nn.RNNBase, "flatten_parameters", strict)
    made.advance(learners, 0, training.batches(0, 2), np.ones(3))
    learners[0].module(torch.zeros(2, 3, dtype=torch.int64))
    assert "flatten_parameters" not in vars(made.module.gru)


RECIPES: dict[str, dict[str, Any]] = {
    "sgd": {"optimiser": "sgd"},
    "momentum": {"optimiser": "sgd", "momentum": 0.9},
    "nesterov": {"optimiser": "sgd", "momentum": 0.9, "nesterov": True},
    "adam": {"betas": (0.8, 0.95)},
    "adamw": {"optimiser": "adamw", "weight_decay": 0.1},
    "clipping": {"gradient_clip": 0.01},
    "no clipping": {"gradient_clip": None, "loss": "sum"},
    "warm-up": {"schedule": Schedule(8, start=0.1), "loss": "pooled"},
}


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("recipe", RECIPES)
def test_fifty_steps_of_each_optimiser_have_the_losses_of_plain_steps(recipe: str, program: str):
    training, rates = _training(job(Dropping, steps=50, **RECIPES[recipe])), np.array([1.0, 0.5, 1.0])
    expected, plain = plain_steps(training, rates)
    assert len(set(expected[0, 0].round(6))) > 25
    made, learners = PROGRAMS[program](training), [training.fresh(member) for member in training.members]
    batches = training.batches(0, 50)
    parts = [made.advance(learners, first, batches[first:last], rates) for first, last in ((0, 20), (20, 50))]
    np.testing.assert_allclose(np.concatenate(parts, -1), expected, rtol=1e-4, atol=1e-5)
    for mine, other in zip(learners, plain, strict=True):
        assert torch.equal(mine.random["cpu"], other.random["cpu"])  # the same masks were drawn
        assert mine.arrays().keys() == other.arrays().keys()  # a checkpoint of one road is one of the other


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_diverged_member_is_frozen_and_harms_nobody(program: str):
    def steps(rate: float) -> tuple[np.ndarray, list[Any]]:
        wish = job(BatchNorm, steps=50, optimiser="sgd", gradient_clip=None)
        training = _training(replace(wish, members=(replace(wish.members[0], learning_rate=rate), *wish.members[1:])))
        learners = [training.fresh(member) for member in training.members]
        made, batches = PROGRAMS[program](training), training.batches(0, 50)
        parts = [made.advance(learners, first, batches[first : first + 25], np.ones(3)) for first in (0, 25)]
        return np.concatenate(parts, -1), learners

    losses, learners = steps(1e30)
    good, others = steps(1e-3)
    at = learners[0].diverged_at
    assert 0 < at < 25 and [x.diverged_at for x in (*learners[1:], *others)] == [-1] * 5
    assert np.isnan(losses[:, 0, at + 1 :]).all() and np.isfinite(losses[0, 0, :at]).all()
    parameters = dict(learners[0].module.named_parameters())
    assert all(x.isfinite().all() for x in parameters.values())
    np.testing.assert_array_equal(losses[:, 1:], good[:, 1:])  # the same bits, whatever the first member does
    for mine, other in zip(learners[1:], others[1:], strict=True):
        assert all(np.array_equal(x, other.arrays()[name]) for name, x in mine.arrays().items())


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_member_can_have_its_own_examples(program: str):
    wish = job(Dropping, steps=50)
    problem, draw = copy(wish.problem), wish.problem.batch

    def own(step: int) -> Batch:  # batches of one length, other strings for each member
        rows = [draw(4 * (3 * step + member)) for member in range(3)]
        time = max(batch.time for batch in rows)
        arrays = zip(*(vars(batch.padded(time, time)).values() for batch in rows), strict=True)
        return Batch(*map(np.stack, arrays))

    problem.has_own_examples, problem.batch = True, own  # pyright: ignore[reportAttributeAccessIssue]
    training = _training(replace(wish, problem=problem))
    expected, _ = plain_steps(training, np.ones(3))
    learners = [training.fresh(member) for member in training.members]
    losses = PROGRAMS[program](training).advance(learners, 0, training.batches(0, 50), np.ones(3))
    np.testing.assert_allclose(losses, expected, rtol=1e-4, atol=1e-5)


def test_half_precision_is_that_of_plain_steps():
    training, rates = _training(job(TRANSFORMER, steps=50, precision="bfloat16")), np.full(3, 0.02)
    expected, _ = plain_steps(training, rates)
    single, _ = plain_steps(_training(job(TRANSFORMER, steps=50)), rates)
    learners = [training.fresh(member) for member in training.members]
    losses = Stack(training).advance(learners, 0, training.batches(0, 50), rates)
    assert not any(np.allclose(found[0], single[0], rtol=1e-4, atol=1e-4) for found in (expected, losses))
    np.testing.assert_allclose(losses[0], expected[0], rtol=0.05, atol=0.02)


@pytest.mark.parametrize("program", ["stacked, recorded", "graphs"])
def test_a_program_has_a_limited_number_of_graphs(program: str, monkeypatch: pytest.MonkeyPatch):
    for module in ("graphs", "stacked"):
        monkeypatch.setattr(f"humboldt.training.pytorch.{module}.MOST_GRAPHS", 2)
    training = _training(job(Dropping))
    expected, _ = plain_steps(training, np.ones(3))
    made: Any = PROGRAMS[program](training)
    learners, batches = [training.fresh(member) for member in training.members], training.batches(0, 50)
    assert len({batch.tokens.shape for batch in batches}) > 2
    losses = made.advance(learners, 0, batches, np.ones(3))
    np.testing.assert_allclose(losses, expected, rtol=1e-4, atol=1e-5)
    (member, *_) = made.members if program == "graphs" else (made,)
    assert len(member._steps) == 2


@pytest.mark.parametrize("program", ["stacked, recorded", "graphs"])
def test_steps_are_recorded_once_for_each_shape(program: str):
    training = _training(job(Dropping))
    made: Any = PROGRAMS[program](training)
    learners, batches = [training.fresh(member) for member in training.members], training.batches(0, 20)
    made.advance(learners, 0, batches, np.ones(3))
    recorder, steps = (
        (made.members[0].recorder, made.members[0]._steps) if program == "graphs" else (made.recorder, made._steps)
    )
    assert recorder.repetitions == 20 and len(steps) == len({batch.tokens.shape for batch in batches}) < 20


class Caches(Plain):
    """Keeps a table of places, and makes a longer one when it needs it."""

    places = torch.zeros(0)

    def between(self, x: torch.Tensor) -> torch.Tensor:
        if len(self.places) < x.shape[1]:
            self.places = 0.1 * torch.arange(x.shape[1])
        return x + self.places[: x.shape[1], None]


@pytest.mark.parametrize("program", ["stacked", "graphs"])
def test_what_a_module_has_cached_lives_as_long_as_the_graphs_that_read_it(program: str):
    training = _training(job(Caches, steps=20))
    made: Any = Stack(training, Direct()) if program == "stacked" else Graphs(training, lambda device: Direct())
    module = made.module if program == "stacked" else made.members[0].module
    batches = sorted(training.batches(0, 20), key=lambda batch: batch.time)
    learners = [training.fresh(member) for member in training.members]
    made.advance(learners, 0, batches[:1], np.ones(3))
    first = weakref.ref(module.places)
    made.advance(learners, 1, batches[-1:], np.ones(3))
    assert len(module.places) == batches[-1].time > batches[0].time
    assert first() is not None and first() is not module.places


@pytest.mark.parametrize("module", [EncoderDecoder, PackedBothWays])
def test_packed_sequences_are_recorded_without_reading_their_lengths(module: type):
    one = job_of("pcfg_set", "task_accuracy", registered(module), **PCFG_SET, device="cpu")
    members = tuple(replace(one.members[0], seed=seed, learning_rate=0.01) for seed in range(3))
    training = _training(replace(one, members=members))
    expected, _ = plain_steps(training, np.ones(3))
    learners, batches = [training.fresh(member) for member in members], training.batches(0, 50)
    assert len({tuple(batch.mask.sum(1)) for batch in batches}) > 10
    made = Stack(training, Recorder(training.caller.device))
    losses = made.advance(learners, 0, batches, np.ones(3))
    shapes = {(batch.tokens.shape, batch.targets.shape) for batch in batches}
    assert made.not_recorded is None and len(made._steps) == len(shapes) < 10
    np.testing.assert_allclose(losses, expected, rtol=1e-4, atol=1e-5)
    graphs = Graphs(training, Recorder)
    with pytest.raises(CannotRecord) as refused:
        graphs.advance(learners, 50, batches, np.ones(3))
    said = roads.refusal(training, "graphs", refused.value, "in_turn")
    assert said.endswith(
        "CUDA graphs: it reads numbers from the device in the middle of a step. They are trained in turn."
    )


class Steps(Plain):
    """Reads and writes step by step, in the ways in which a tensor can be cut."""

    def between(self, x: torch.Tensor) -> torch.Tensor:
        first, states = x.transpose(0, 1), []
        state = first[0]
        for step in range(x.shape[1]):
            state = 0.5 * state + x[:, step] * first[step].sigmoid() + x[:, -1 - step, :]
            states.append(state)
        outputs = torch.zeros_like(x)
        for step, each in enumerate(states):
            outputs[:, step] = each + (outputs[:, step - 1] if step else 0.0)
        return outputs


def test_a_tensor_that_is_read_step_by_step_is_cut_once():
    training = _training(job(Steps, steps=20))
    expected, _ = plain_steps(training, np.ones(3))
    made, learners = Stack(training, Recorder(training.caller.device)), [training.fresh(x) for x in training.members]
    losses = made.advance(learners, 0, training.batches(0, 50), np.ones(3))
    np.testing.assert_allclose(losses, expected, rtol=1e-4, atol=1e-5)
    assert made.not_recorded is None
    x = torch.randn(2, 30, 4, requires_grad=True)
    with PlainLayers([], is_static=True):
        parts = [x[:, step] for step in (3, 5, 7, -1)]
    torch.testing.assert_close(torch.stack(parts), torch.stack([x[:, step] for step in (3, 5, 7, -1)]))
    assert [part.grad_fn.name() for part in parts] == ["SelectBackward0", *["UnbindBackward0"] * 3]  # pyright: ignore[reportOptionalMemberAccess]


def test_the_vectors_of_a_member_are_together_in_memory():
    """Otherwise layers copy what they read. PyTorch's own rule puts the members of each vector beside each other."""
    weights, tokens = torch.randn(3, 7, 4, requires_grad=True), torch.tensor([[1, 5, 1], [0, 6, 2]])

    def read(weight: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.embedding(tokens, weight)

    with PlainLayers([]):
        found = vmap(read)(weights)
    expected = torch.stack([read(weight) for weight in weights])
    assert found.is_contiguous() and not vmap(read)(weights).is_contiguous()
    torch.testing.assert_close(found, expected, rtol=0, atol=0)
    given = torch.randn_like(expected)
    gradients = [torch.autograd.grad(x, weights, given)[0] for x in (found, expected)]
    torch.testing.assert_close(*gradients)
