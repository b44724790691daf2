"""Members by fast roads: the losses of plain steps, by the right road or with the right sentence."""

import itertools
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torch_modules import (
    BatchedGradient,
    BatchNorm,
    Buffers,
    Checkpointed,
    CountsCalls,
    CustomGradient,
    DataDependent,
    Dropping,
    Half,
    InPlace,
    KeepsTensor,
    Lazy,
    OwnRandom,
    Plain,
    PythonRandom,
    TiedWeights,
    TwoLayers,
)
from torch_recorder import Recorder
from torch_support import EXAMPLES, LSTM, Telling, job_of, registered

import humboldt
from humboldt.errors import Interrupted, RunError, UsageError
from humboldt.languages import Batch
from humboldt.storage.checkpoints import Checkpoints
from humboldt.training.abilities import CountsRight, GivesProbabilities, WritesOutputs, ability
from humboldt.training.base import Job, Milestone, Recipe, Road, Schedule, engines
from humboldt.training.engines.torch import _training
from humboldt.training.pytorch import roads
from humboldt.training.pytorch.graphs import Graphs
from humboldt.training.pytorch.plain_layers import PlainLayers
from humboldt.training.pytorch.predictor import ModulePredictor
from humboldt.training.pytorch.stacked import Stack
from humboldt.training.pytorch.train import Together, Training

pytestmark = pytest.mark.extras
TINY: dict[str, Any] = {"batch_size": 2, "train_lengths": (1, 4), "device": "cpu"}
TRANSFORMER = f"{EXAMPLES / 'pytorch_transformer.py'}:Transformer"
GRU = f"{EXAMPLES / 'pytorch_gru.py'}:GRU"


def job(module: type | str, road: Road = "stacked", steps: int = 8, members: int = 3, **recipe: Any) -> Job:
    name = module if isinstance(module, str) else registered(module)
    one = job_of("chomsky", "parity_check", name, learning_rates=(1e-2,), **TINY)
    several = tuple(
        replace(one.members[0], seed=i, learning_rate=0.02 * (i + 1), l1=1e-4 * i, l2=1e-3 * i) for i in range(members)
    )
    changed: Recipe = replace(one.recipe, steps=steps, **recipe)
    return replace(one, members=several, recipe=changed, cores=1, road=road)


def train(job: Job, folder: Path, sink: Telling | None = None) -> Any:
    return engines.get("torch").train(job, Checkpoints(folder, save_seconds=0.0), sink or Telling())


def assert_weights(first: Any, second: Any, *, members: int = 3, atol: float = 0.0) -> None:
    for member in range(members):
        for name, array in first.weights(member).items():
            np.testing.assert_allclose(second.weights(member)[name], array, rtol=0, atol=atol)


DIFFERS = "its losses differ from those of plain steps"
AWKWARD: list[tuple[type, str | None]] = [
    (BatchNorm, None),
    (Buffers, None),
    (TiedWeights, None),
    (Checkpointed, "it computes tensors a second time (`torch.utils.checkpoint`)"),
    (InPlace, None),
    (DataDependent, "its control flow depends on values of tensors"),
    (CustomGradient, "its custom autograd function has no batching rule (`generate_vmap_rule`)"),
    (BatchedGradient, None),
    (OwnRandom, "it draws random numbers other than those of dropout"),
    (PythonRandom, DIFFERS),
    (Dropping, None),
    (TwoLayers, None),
    (Plain, None),  # a GRU
    (LSTM, None),
    (Half, "some parameters are not in single precision"),
    (CountsCalls, "it keeps something after a call that is not in its `state_dict` (`calls`)"),
    (KeepsTensor, "it keeps something after a call that is not in its `state_dict` (`last`)"),
]


@pytest.mark.parametrize(("module", "reason"), AWKWARD)
def test_awkward_modules_are_stacked_or_a_sentence_says_why_not(module: type, reason: str | None, tmp_path: Path):
    sink, wish = Telling(), job(module)
    found = train(wish, tmp_path / "stacked", sink)
    told = [text for text in sink.warnings if "cannot be stacked as one module" in text]
    assert len(told) == (reason is not None) and all(reason in text for text in told if reason)
    assert all(text.endswith("They are trained in turn.") for text in told)
    assert (reason is None) == (found.predictor.stacked)
    if module is not PythonRandom:  # which has other results every time
        plain = train(replace(wish, road="in_turn"), tmp_path / "in turn")
        assert_weights(plain, found, atol=0.0 if reason else 1e-4)
        assert any(name.endswith("running_mean") for name in found.weights(0)) == (module is BatchNorm)


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
        assert not any(torch._C._functorch.is_batchedtensor(x) for x in layer._flat_weights)
        flatten(layer)

    monkeypatch.setattr(nn.RNNBase, "flatten_parameters", strict)
    made.advance(learners, 0, training.batches(0, 2), np.ones(3))
    learners[0].module(torch.zeros(2, 3, dtype=torch.int64))
    assert "flatten_parameters" not in vars(made.module.gru)


def test_parameters_that_are_made_lazily_are_refused(tmp_path: Path):
    with pytest.raises(RunError, match="made at the first call"):
        train(job(Lazy), tmp_path)


PROGRAMS: dict[str, Callable[[Training], roads.Program]] = {
    "stacked": Stack,
    "stacked, recorded": lambda training: Stack(training, Recorder(training.caller.device)),
    "graphs": lambda training: Graphs(training, Recorder),
}
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


def plain_steps(training: Training, rates: np.ndarray) -> tuple[np.ndarray, list[Any]]:
    batches, learners = training.batches(0, 50), [training.fresh(member) for member in training.members]
    losses = []
    for number, learner in enumerate(learners):
        examples = [training._examples(batch, number) for batch in batches]
        losses.append(training._span(learner, number, 0, examples, float(rates[number])))
    return np.array(losses).transpose(2, 0, 1), learners


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


@pytest.mark.parametrize("recipe", [{}, {"restart_every": 30}, {"kept": "before_best"}])
def test_a_resumed_training_stays_on_its_road_and_ends_with_the_same_bits(
    recipe: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def look(step: int, predictor: Any) -> Milestone:
        assert predictor.stacked
        return Milestone(np.array([step == 60, step, -step], float), [step] * predictor.num_members)

    wish = job(Dropping, steps=104, shrink=0.5, **recipe)
    wish.problem.milestones = (60, 102, 104)
    wish = replace(wish, milestone=look)
    monkeypatch.setattr(roads, "CALL_SECONDS", 0.05)  # several calls for each span
    whole = train(wish, tmp_path / "whole")
    plain = train(replace(wish, milestone=lambda *x: look(x[0], whole.predictor), road="in_turn"), tmp_path / "plain")
    assert_weights(plain, whole, atol=1e-4)
    for stop in (1, 3, 2):
        with pytest.raises(Interrupted):
            train(wish, tmp_path / "part", Telling(stop_after=stop))
    monkeypatch.setattr("humboldt.training.pytorch.train.choose", None)  # no other trial
    again = train(replace(wish, road="auto"), tmp_path / "part")
    assert_weights(whole, again)
    assert again.outcomes == whole.outcomes and again.milestones == whole.milestones


def as_on_a_gpu(training: Training) -> list[Road]:
    """Roads to try, of which there are none on a CPU."""
    return ["stacked"] if training.road in ("auto", "stacked") else []


def test_on_a_cpu_nothing_is_timed_and_bits_depend_neither_on_cores_nor_on_members(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(roads, "_now", None)  # no time is read
    wish = job(Dropping, "auto", steps=60, members=6)
    found = train(wish, tmp_path / "one core")
    assert not found.predictor.stacked
    assert_weights(found, train(replace(wish, cores=2), tmp_path / "two cores"), members=6)
    assert_weights(train(replace(wish, members=wish.members[:3]), tmp_path / "fewer"), found)
    assert_weights(found, train(replace(wish, road="in_turn"), tmp_path / "in turn"), members=6)


@pytest.mark.parametrize("margin", [0.0, 1e9])
def test_a_choice_is_made_once(margin: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A training that is killed before its first checkpoint begins again by the road that its trial chose."""
    wish = job(Plain, "auto", steps=60)
    monkeypatch.setattr(roads, "candidates", as_on_a_gpu)
    monkeypatch.setattr(roads, "MARGIN", margin)
    stepper = _training(wish)._stepper(Checkpoints(tmp_path), Telling())
    assert isinstance(stepper, Together) == (margin == 0)
    monkeypatch.setattr(roads, "MARGIN", 1e9 - margin)
    again = _training(wish)._stepper(Checkpoints(tmp_path), Telling())
    assert type(again) is type(stepper) and again.call_steps == stepper.call_steps
    found = train(wish, tmp_path)
    named: Road = "in_turn" if margin else "stacked"
    assert_weights(train(replace(wish, road=named), tmp_path / "named"), found)
    other: Road = "stacked" if margin else "in_turn"
    sink = Telling()
    train(replace(wish, road=other), tmp_path, sink)  # finished before
    assert sink.warnings == (
        ["test_torch.py:Plain: the training began by another road, and stays on it."] * bool(margin)
    )


def test_a_failure_in_training_leads_to_members_in_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    advance, first_steps = Stack.advance, []

    def fails(self: Stack, learners: Any, first: int, data: Any, rates: np.ndarray) -> np.ndarray:
        first_steps.append(first)
        if first >= 100:
            raise RuntimeError("the device was lost")
        return advance(self, learners, first, data, rates)

    wish, sink = job(Plain, steps=210), Telling()
    plain = train(replace(wish, road="in_turn"), tmp_path / "plain")
    monkeypatch.setattr(Stack, "advance", fails)
    found = train(wish, tmp_path / "failed", sink)
    assert sink.warnings == [
        "test_torch.py:Plain: members cannot be stacked as one module: the device was lost. They are trained in turn."
    ]
    assert first_steps[-1] == 100
    assert_weights(plain, found, atol=1e-3)
    with pytest.raises(Interrupted):
        train(wish, tmp_path / "part", Telling(stop_after=2))
    again = train(wish, tmp_path / "part")
    assert_weights(found, again)


def test_members_that_do_not_fit_into_memory_are_stacked_in_halves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    advance = Stack.advance

    def fails(self: Stack, learners: Any, first: int, *more: Any) -> np.ndarray:
        if first >= 100 and len(learners) > 2:
            raise torch.OutOfMemoryError("out of memory")
        return advance(self, learners, first, *more)

    wish, sink = job(Dropping, steps=130, members=5), Telling()
    plain = train(replace(wish, road="in_turn"), tmp_path / "plain")
    monkeypatch.setattr(Stack, "advance", fails)
    found = train(wish, tmp_path / "halves", sink)
    assert sink.warnings == [
        f"test_torch.py:Dropping: {count} members stacked as one module need more memory than there is. They are "
        "stacked in two halves."
        for count in (5, 3)
    ]
    assert found.predictor.stacked
    assert_weights(plain, found, members=5, atol=1e-2)


@pytest.mark.parametrize(
    ("device", "road", "members", "expected"),
    [
        ("cuda", "auto", 2, ["stacked", "graphs"]),
        ("mps", "auto", 2, ["stacked"]),
        ("cpu", "auto", 2, []),
        ("cpu", "auto", 30, []),
        ("cpu", "stacked", 2, ["stacked"]),
        ("cpu", "graphs", 2, ["graphs"]),
        ("cuda", "in_turn", 30, []),
        ("cuda", "processes", 30, []),
    ],
)
def test_roads_that_are_tried(device: str, road: Road, members: int, expected: list[Road]):
    training = _training(job(Plain, road, steps=100, members=members))
    training.caller.device = torch.device(device)
    assert roads.candidates(training) == expected
    training.recipe, training.road = replace(training.recipe, steps=10), "auto"  # too short for a trial
    assert roads.candidates(training) == []


@pytest.mark.parametrize(
    ("seconds", "road", "gain", "refused"),
    [
        ({"stacked": 0.1, "graphs": 0.2}, "stacked", 3.0, 0),
        ({"stacked": 0.2, "graphs": 0.1}, "graphs", 3.0, 0),
        ({"stacked": 0.25, "graphs": 0.29}, "in_turn", 1.0, 0),  # too little for other rounding
        ({"graphs": 0.1}, "graphs", 3.0, 1),
        ({}, "in_turn", 1.0, 2),
    ],
)
def test_the_fastest_road_that_agrees_is_taken(
    seconds: dict[Road, float], road: Road, gain: float, refused: int, monkeypatch: pytest.MonkeyPatch
):
    class Clock:
        """Three members whose plain steps take 0.1 seconds each."""

        def __init__(self, training: Training) -> None:
            self.seconds = 0.1

        def compared(self, road: Road) -> float:
            if road not in seconds:
                raise roads.Differs("its losses differ. Much more about it")
            return seconds[road]

    monkeypatch.setattr(roads, "_Plain", Clock)
    training = _training(job(Plain, "auto", steps=100))
    training.caller.device = torch.device("cuda")
    choice = roads.choose(training)
    assert (choice.road, len(choice.refusals)) == (road, refused) and choice.gain == pytest.approx(gain)
    assert (choice.call_steps is None) == (road == "in_turn")
    assert all("its losses differ. They are trained in turn." in text for text in choice.refusals)


def test_graphs_are_refused_without_a_cuda_device(tmp_path: Path):
    sink, wish = Telling(), job(Plain, "graphs")
    found = train(wish, tmp_path / "graphs", sink)
    assert sink.warnings == [
        "test_torch.py:Plain: members cannot be trained as CUDA graphs: graphs need a CUDA device, and this is cpu. "
        "They are trained in turn."
    ]
    assert_weights(train(replace(wish, road="in_turn"), tmp_path / "plain"), found)
    assert "graphs need a CUDA device" in str(engines.get("torch").road(wish))


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


def test_a_plan_names_the_road(monkeypatch: pytest.MonkeyPatch):
    engine, wish = engines.get("torch"), job(TRANSFORMER, "auto", steps=100, members=6)
    assert str(engine.road(wish)) == "pytorch_transformer.py:Transformer: members are trained in turn."
    monkeypatch.setattr(roads, "candidates", as_on_a_gpu)
    monkeypatch.setattr(roads, "MARGIN", 0.0)  # whatever else this machine does
    assert "Transformer: members are stacked as one module, " in str(engine.road(wish))
    assert "times as fast as in turn in a trial on this machine." in str(engine.road(wish))
    monkeypatch.setattr(roads, "MARGIN", 1e9)
    assert str(engine.road(wish)) == "pytorch_transformer.py:Transformer: members are trained in turn."
    assert "its control flow depends on values" in str(engine.road(job(DataDependent, "auto", steps=100)))
    assert engine.road(job(Plain, members=1)) is None


class Raises(Plain):
    """Fails in its gradient."""

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return super().forward(tokens).detach()


def test_a_module_that_cannot_be_trained_is_reported_by_training_and_not_by_the_trial(tmp_path: Path):
    wish = job(Raises)
    wish = replace(wish, members=tuple(replace(member, l1=0.0, l2=0.0) for member in wish.members))
    assert roads.choose(_training(wish)) == roads.Choice("in_turn")
    with pytest.raises(RunError, match="no parameter gets a gradient"):
        train(wish, tmp_path)


def test_a_road_is_an_option_of_a_run_and_not_of_its_identity(tmp_path: Path):
    settings = {"steps": 4, "num_test_lengths": 1, "strings_per_length": 2, "batch_size": 2, "hidden_size": 4}
    options: dict[str, Any] = {"tasks": "parity_check", "models": GRU, "seeds": 3, "settings": settings}
    events: list[str] = []
    study = humboldt.run(
        "chomsky", **options, out=tmp_path, road="stacked", progress=lambda name, event: events.append(str(event))
    )
    assert not study.pending() and not [text for text in events if "cannot be stacked" in text]
    assert not humboldt.plan("chomsky", **options, out=tmp_path).pending()
    with pytest.raises(UsageError, match="road"):
        humboldt.run("chomsky", **{**options, "out": tmp_path, "road": "fast"})


class EncoderDecoder(nn.Module):
    """Reads a packed source, and writes from its last state."""

    def __init__(self, input_size: int, output_size: int) -> None:
        super().__init__()
        self.source, self.target = nn.Embedding(input_size, 6), nn.Embedding(output_size, 6)
        self.reader, self.writer = nn.GRU(6, 6, batch_first=True), nn.GRU(6, 6, batch_first=True)
        self.readout = nn.Linear(6, output_size)

    def forward(self, source: torch.Tensor, told: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        packed = pack_padded_sequence(self.source(source), lengths.cpu(), batch_first=True, enforce_sorted=False)
        return self.readout(self.writer(self.target(told), self.reader(packed)[1])[0])


PCFG_SET = {"size": 200, "letters": 40, "deepest": 2, "epochs": 2, "batch_size": 8, "longest_output": 6}


def predictors(wish: Job, seeds: int = 3) -> tuple[Training, ModulePredictor, ModulePredictor]:
    members = tuple(replace(wish.members[0], seed=seed) for seed in range(seeds))
    training = _training(replace(wish, members=members))
    modules = [training.fresh(member).module for member in members]
    for module in modules:
        for parameter in module.parameters():
            parameter.data *= 3  # so that answers differ
    return training, ModulePredictor(modules, training.caller, stacked=True), ModulePredictor(modules, training.caller)


@pytest.mark.parametrize("module", [EncoderDecoder, TRANSFORMER])
def test_stacked_members_are_evaluated_as_one_after_the_other(module: type | str):
    name = module if isinstance(module, str) else registered(module)
    wish = job_of("pcfg_set", "task_accuracy", name, **PCFG_SET, device="cpu")
    training, stacked, plain = predictors(wish)
    batch, calls = training.problem.batch(0), []
    hook = stacked.modules[0].register_forward_hook(lambda *_: calls.append(1))
    outputs = ability(stacked, WritesOutputs).outputs(batch, 6)
    assert stacked.stacked and len(calls) <= 8  # one call for a symbol of all members, and two of the trial
    hook.remove()
    np.testing.assert_array_equal(outputs, ability(plain, WritesOutputs).outputs(batch, 6))
    assert len(np.unique(outputs, axis=1)) > 1 and (outputs[0] != outputs[1]).any()
    nats = [ability(each, GivesProbabilities).nats(batch) for each in (stacked, plain)]
    np.testing.assert_allclose(nats[0], nats[1], rtol=1e-4)
    counts = [ability(each, CountsRight).correct(batch) for each in (stacked, plain)]
    np.testing.assert_array_equal(counts[0], counts[1])
    own = Batch(*(np.stack([x, x[::-1], x]) for x in vars(batch).values()))  # other rows for the second member
    of_own = [ability(each.take([0, 1, 2]), GivesProbabilities).nats(own) for each in (stacked, plain)]
    if module is TRANSFORMER:  # packing needs the lengths of one batch
        np.testing.assert_allclose(of_own[0], of_own[1], rtol=1e-4)
    np.testing.assert_allclose(of_own[1][1], nats[1][1][::-1], rtol=1e-4)


def test_modules_that_cannot_be_stacked_are_evaluated_one_after_the_other():
    training, stacked, plain = predictors(job(DataDependent))
    batch = training.problem.batch(3)
    found = stacked.correct(batch)
    assert not stacked.stacked
    np.testing.assert_array_equal(found, plain.correct(batch))


class Unstepped(nn.Module):
    """A causal module without a method `step`; with `ahead`, one that reads ahead."""

    def __init__(self, inner: nn.Module, ahead: float = 0.0) -> None:
        super().__init__()
        self.inner, self.ahead, self.calls = inner, ahead, 0

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        logits = self.inner(tokens)
        return logits + self.ahead * logits.flip(1)


def test_own_answers_are_the_same_by_steps_by_guesses_and_symbol_by_symbol(monkeypatch: pytest.MonkeyPatch):
    wish = job_of("chomsky", "reverse_string", GRU, learning_rates=(1e-2,), autoregressive=True, **TINY)
    training, _, predictor = predictors(replace(wish, problem=wish.problem), seeds=1)
    (module,), problem = predictor.modules, training.problem
    batches = [problem.batch(step) for step in (1, 5, 7)]
    by_step = [predictor.correct(batch) for batch in batches]
    bare = Unstepped(module)
    guessing = ModulePredictor([bare], training.caller)
    guesses = [guessing.correct(batch) for batch in batches]
    monkeypatch.setattr(ModulePredictor, "_is_causal", lambda *_: False)
    plain = [guessing.correct(batch) for batch in batches]
    for found, expected in zip((*by_step, *guesses), (*plain, *plain), strict=True):
        np.testing.assert_array_equal(found, expected)
    monkeypatch.undo()
    examples = training._examples(batches[2], 0)
    answers = guessing._own_answers(bare, examples)
    bare.calls = 0
    right = examples._replace(targets=answers)  # as if all answers were right
    torch.testing.assert_close(guessing._own_answers(bare, right), answers)
    assert bare.calls == 3  # two of the trial, and one reading
    ahead = Unstepped(module, 0.5)
    assert not guessing._is_causal(ahead.eval(), examples) and guessing._is_causal(bare.eval(), examples)


LAYERS: dict[str, Callable[..., nn.RNNBase]] = {
    "lstm": nn.LSTM,
    "gru": nn.GRU,
    "tanh": nn.RNN,
    "relu": lambda *sizes, **options: nn.RNN(*sizes, nonlinearity="relu", **options),
}


@pytest.mark.parametrize("layer", LAYERS)
def test_plain_layers_are_those_of_pytorch(layer: str):
    x, lengths = torch.randn(5, 6, 3), (torch.tensor([5, 1, 3, 2, 2, 4]), torch.tensor([6, 2, 1, 4, 4]))
    options = ("num_layers", "bidirectional", "batch_first", "bias")
    for values in itertools.product((1, 2), (False, True), (False, True), (False, True)):
        named: dict[str, Any] = dict(zip(options, values, strict=True))
        module, batch_first = LAYERS[layer](3, 4, **named), named["batch_first"]

        def read(is_packed: bool, module: nn.Module = module, batch_first: bool = batch_first) -> tuple[Any, ...]:
            packed = pack_padded_sequence(x, lengths[batch_first], batch_first, enforce_sorted=False)
            outputs, state = module(packed if is_packed else x)
            if is_packed:
                outputs, found = pad_packed_sequence(outputs, batch_first, total_length=9)
                assert found.equal(lengths[batch_first])
            return (outputs, *state) if isinstance(state, tuple) else (outputs, state)

        for is_packed in (False, True):
            expected = read(is_packed)
            with PlainLayers([]):
                torch.testing.assert_close(read(is_packed), expected)


@pytest.mark.parametrize("cell", [nn.LSTMCell, nn.GRUCell, nn.RNNCell])
def test_plain_cells_are_those_of_pytorch(cell: type[nn.Module]):
    module, x = cell(3, 4), torch.randn(5, 3)
    expected = module(x)
    with PlainLayers([]):
        torch.testing.assert_close(module(x), expected)


def test_all_members_together_are_one_group():
    stepper = Together(_training(job(Plain)), Telling(), "stacked", 7)
    stepper.begin()
    assert (stepper.group_size, stepper.call_steps, stepper.arrays()[roads.ROAD].tolist()) == (3, 7, [1, 7])
