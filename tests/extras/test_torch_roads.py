"""Members by fast roads: chosen by a trial, by the right road or with the right sentence."""

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch_modules import (
    BatchNorm,
    Buffers,
    CustomGradient,
    DataDependent,
    Dropping,
    KeepsTensor,
    Lazy,
    Plain,
    PythonRandom,
)
from torch_recorder import Recorder
from torch_roads import AWKWARD, DIFFERS, GRU, TRANSFORMER, assert_weights, job, train
from torch_support import Telling

import humboldt
from humboldt.errors import Interrupted, RunError, UsageError
from humboldt.storage.checkpoints import Checkpoints
from humboldt.training.base import Milestone, Road, engines
from humboldt.training.engines.torch import _training
from humboldt.training.pytorch import roads
from humboldt.training.pytorch.graphs import Graphs
from humboldt.training.pytorch.stacked import Stack
from humboldt.training.pytorch.steps import train_step
from humboldt.training.pytorch.train import ModuleStepper, Together, Training
from humboldt.training.spans import Call

pytestmark = pytest.mark.extras


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


class InAnObject(Plain):
    """Counts calls in an object of its own; the effect is too small for a trial to see."""

    def __init__(self, input_size: int, output_size: int) -> None:
        super().__init__(input_size, output_size)
        self.schedule = SimpleNamespace(calls=[0])

    def between(self, x: torch.Tensor) -> torch.Tensor:
        self.schedule.calls[0] += self.training
        return x * (1 + 1e-6 * self.schedule.calls[0])


class InPlaceTensor(Plain):
    """Counts calls in a tensor, changed in place, that is no buffer."""

    def __init__(self, input_size: int, output_size: int) -> None:
        super().__init__(input_size, output_size)
        self.calls = torch.zeros(())

    def between(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += self.training
        return x * (1 + 1e-6 * self.calls)


class PassingBuffer(Plain):
    """Counts calls in a buffer that is not part of its `state_dict`."""

    calls: torch.Tensor

    def __init__(self, input_size: int, output_size: int) -> None:
        super().__init__(input_size, output_size)
        self.register_buffer("calls", torch.zeros(()), persistent=False)

    def between(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += self.training
        return x * (1 + 1e-6 * self.calls)


class Array(Plain):
    """Counts calls in an array."""

    def __init__(self, input_size: int, output_size: int) -> None:
        super().__init__(input_size, output_size)
        self.calls = np.zeros(1, np.float32)

    def between(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += self.training
        return x * (1 + 1e-6 * float(self.calls[0]))


@pytest.mark.parametrize("module", [InAnObject, InPlaceTensor, PassingBuffer, Array])
def test_whatever_a_module_keeps_outside_its_state_dict_is_found(module: type):
    """As a CUDA graph it would be that of the recorded step, and a resumed training would begin again with it."""
    choice = roads.choose(_training(job(module)))
    assert choice.road == "in_turn"
    assert "keeps something after a call that is not in its `state_dict`" in choice.refusals[0]


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        (BatchNorm, None),
        (CustomGradient, None),
        (Buffers, "it assigns a new tensor to its buffer `mean`"),
        (DataDependent, "it reads numbers from the device in the middle of a step"),
        (PythonRandom, DIFFERS),
        (KeepsTensor, "it keeps something after a call that is not in its `state_dict` (`last`)"),
    ],
)
def test_awkward_modules_are_recorded_or_a_sentence_says_why_not(
    module: type, reason: str | None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(roads, "Graphs", lambda training: Graphs(training, Recorder))
    choice = roads.choose(_training(job(module, "graphs")))
    assert choice.road == ("in_turn" if reason else "graphs")
    assert [reason for text in choice.refusals if reason and reason in text] == [reason] * len(choice.refusals)
    assert len(choice.refusals) == (reason is not None)


def test_a_training_goes_on_where_there_is_no_such_device(tmp_path: Path):
    """A checkpoint of a GPU, with its random numbers and its road, on a CPU."""
    training, sink = _training(job(Dropping)), Telling()
    stepper = Together(training, sink, "graphs", 2)
    stepper.begin()
    arrays = stepper.arrays() | {f"{i}/random/cuda": np.zeros(16, np.uint8) for i in range(3)}
    stepper.restore(arrays)
    found = stepper.advance(Call(0, 0, 0, 2, 0), training.batches(0, 2), np.ones(3))
    assert found.loss.shape == (3, 2) and np.isfinite(found.loss).all()
    assert sink.warnings == [
        "torch_modules.py:Dropping: members cannot be trained as CUDA graphs: graphs need a CUDA device, and this is "
        "cpu. They are trained in turn."
    ]
    assert stepper.arrays()[roads.ROAD][0] == roads.TOGETHER.index("in_turn")


def test_parameters_that_are_made_lazily_are_refused(tmp_path: Path):
    with pytest.raises(RunError, match="made at the first call"):
        train(job(Lazy), tmp_path)


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
        ["torch_modules.py:Plain: the training began by another road, and stays on it."] * bool(margin)
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
        "torch_modules.py:Plain: members cannot be stacked as one module: the device was lost. They are trained in "
        "turn."
    ]
    assert first_steps[-1] == 100
    assert_weights(plain, found, atol=1e-3)
    with pytest.raises(Interrupted):
        train(wish, tmp_path / "part", Telling(stop_after=2))
    again = train(wish, tmp_path / "part")
    assert_weights(found, again)


@pytest.mark.parametrize("since", [0, 100])
def test_members_that_do_not_fit_into_memory_are_stacked_in_halves(
    since: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """From the trial on, or from a later batch."""
    advance = Stack.advance

    def fails(self: Stack, learners: Any, first: int, *more: Any) -> np.ndarray:
        if first >= since and len(learners) > 2:
            raise torch.OutOfMemoryError("out of memory")
        return advance(self, learners, first, *more)

    wish, sink = job(Dropping, steps=130, members=5), Telling()
    plain = train(replace(wish, road="in_turn"), tmp_path / "plain")
    monkeypatch.setattr(Stack, "advance", fails)
    found = train(wish, tmp_path / "halves", sink)
    assert sink.warnings == [
        f"torch_modules.py:Dropping: {count} members stacked as one module need more memory than there is. They are "
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


@pytest.mark.parametrize(("precision", "expected"), [("float32", 1e-3), ("bfloat16", 0.05)])
def test_a_trial_allows_for_the_rounding_of_its_precision(precision: str, expected: float):
    assert roads.tolerances(_training(job(Plain, precision=precision)))[0] == expected


def test_all_products_of_a_trial_are_exact(monkeypatch: pytest.MonkeyPatch):
    training, seen = _training(job(Plain, "stacked", steps=60)), list[bool]()

    def noted(device: torch.device, *, exact: bool) -> Any:
        seen.append(exact)
        return contextlib.nullcontext()

    monkeypatch.setattr("humboldt.training.pytorch.calling.own_products", noted)
    assert roads.choose(training).road == "stacked"
    assert seen and all(seen)
    seen.clear()
    with training.caller.computing():
        assert seen == [False]  # as in training


def test_graphs_are_refused_without_a_cuda_device(tmp_path: Path):
    sink, wish = Telling(), job(Plain, "graphs")
    found = train(wish, tmp_path / "graphs", sink)
    assert sink.warnings == [
        "torch_modules.py:Plain: members cannot be trained as CUDA graphs: graphs need a CUDA device, and this is cpu. "
        "They are trained in turn."
    ]
    assert_weights(train(replace(wish, road="in_turn"), tmp_path / "plain"), found)
    assert "graphs need a CUDA device" in str(engines.get("torch").road(wish))


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


def compile_as(monkeypatch: pytest.MonkeyPatch, kind: str) -> list[nn.Module]:
    """Replaces `torch.compile`, which takes minutes, by another wrapper of a module."""
    compiled = []

    class Wrapped(nn.Module):
        def __init__(self, module: nn.Module) -> None:
            super().__init__()
            self._orig_mod = module
            compiled.append(module)

        def forward(self, tokens: torch.Tensor) -> torch.Tensor:
            if kind == "fails":
                raise RuntimeError("backend failed. Much more about it")
            return self._orig_mod(tokens) * (2 if kind == "differs" else 1)

    monkeypatch.setattr(torch, "compile", Wrapped)
    return compiled


@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.parametrize(
    ("kind", "seconds", "reason"),
    [
        ("same", [0.3, 0.1], None),
        ("same", [0.3, 0.29], "its steps are 1.03 times as fast"),
        ("differs", [0.3, 0.1], DIFFERS),
        ("fails", [0.3, 0.1], "backend failed."),
    ],
)
def test_compile_is_tried_and_used_where_it_pays(
    kind: str, seconds: list[float], reason: str | None, members: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    now = iter([0.0, 3 * seconds[0], 0.0, 3 * seconds[0], 0.0, 3 * seconds[1]])
    wish = job(Plain, "in_turn", steps=104, members=members, gradient_clip=None)
    plain = train(wish, tmp_path / "plain")
    compiled = compile_as(monkeypatch, kind)
    assert_weights(plain, train(wish, tmp_path / "not asked for"), members=members)
    assert not compiled
    monkeypatch.setattr(roads, "_now", lambda _: next(now, 0.0))
    sink, wish = Telling(), replace(wish, compile="auto")
    with pytest.raises(Interrupted):
        train(wish, tmp_path / "auto", Telling(stop_after=1))
    tried = len(compiled)
    assert (tried == 1) == (reason is not None)
    monkeypatch.setattr("humboldt.training.pytorch.train.choose", None)  # no other trial
    found = train(wish, tmp_path / "auto", sink)
    assert (len(compiled) > tried) == (reason is None)
    assert_weights(plain, found, members=members)


def test_a_trial_of_compile_that_fails_is_told(monkeypatch: pytest.MonkeyPatch):
    compile_as(monkeypatch, "fails")
    training = _training(replace(job(Plain, "in_turn", steps=60), compile="auto"))
    choice = roads.choose(training)
    assert choice.refusals == ("torch_modules.py:Plain: torch.compile is not used: backend failed.",)
    assert roads.choose(_training(job(Plain, "in_turn", steps=60))).refusals == ()


@pytest.fixture(name="_two_threads")
def _two_threads_fixture(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """PyTorch's own number of threads is two, as on a machine with two cores."""
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def threads_seen(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The threads of every step."""
    seen: list[int] = []
    step = train_step

    def noted(*arguments: Any) -> Any:
        seen.append(torch.get_num_threads())
        return step(*arguments)

    monkeypatch.setattr("humboldt.training.pytorch.train.train_step", noted)
    return seen


@pytest.mark.parametrize(
    ("road", "members", "cores", "products", "steps", "expected"),
    [
        ("auto", 1, 2, 0, 60, ("threads", 2)),
        ("auto", 1, 64, 0, 60, ("threads", 2)),  # as many as PyTorch would use: one for each physical core
        ("auto", 1, 1, 0, 60, ("in_turn", 1)),  # no other core
        ("auto", 1, 2, 1e9, 60, ("in_turn", 1)),  # a small network
        ("auto", 1, 2, 0, 10, ("in_turn", 1)),  # a short training
        ("auto", 2, 2, 0, 60, ("processes", 1)),
        ("in_turn", 1, 2, 0, 60, ("in_turn", 1)),
        ("threads", 1, 2, 1e9, 10, ("threads", 2)),
        ("threads", 2, 2, 1e9, 10, ("threads", 2)),
    ],
)
@pytest.mark.usefixtures("_two_threads")
def test_a_single_large_member_is_trained_on_all_cores(
    road: Road,
    members: int,
    cores: int,
    products: float,
    steps: int,
    expected: tuple[Road, int],
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(roads, "FEWEST_PRODUCTS", products)
    training = _training(replace(job(Plain, road, steps=steps, members=members), cores=cores))
    choice = roads.choose(training)
    assert (choice.road, choice.threads) == expected
    assert ("with 2 threads" in choice.told(training)) == (expected[0] == "threads")
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert roads.choose(training).threads == 1  # the user's own number is used


def test_the_size_of_a_step_is_that_of_an_average_batch(monkeypatch: pytest.MonkeyPatch):
    training = _training(job(Plain, steps=16))
    parameters = sum(x.numel() for x in Plain(training.problem.input_size, training.problem.output_size).parameters())
    sizes = [training.problem.batch(step).tokens.size for step in range(0, 16, 2)]
    assert len(set(sizes)) > 1
    assert roads._products(training) == pytest.approx(parameters * np.mean(sizes))


@pytest.mark.usefixtures("_two_threads")
def test_members_on_several_threads_have_the_losses_of_one_and_resume_with_as_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(ModuleStepper, "call_steps", 5)
    wish = replace(job(Dropping, "threads", steps=8, members=2), cores=2)
    plain = train(replace(wish, road="in_turn"), tmp_path / "in turn")
    seen = threads_seen(monkeypatch)
    whole = train(wish, tmp_path / "whole")
    assert set(seen) == {2}
    assert_weights(plain, whole, members=2, atol=1e-4)
    with pytest.raises(Interrupted):
        train(wish, tmp_path / "part", Telling(stop_after=1))
    seen.clear()
    found = train(replace(wish, road="auto"), tmp_path / "part")  # several members, which would get processes
    assert set(seen) == {2}
    assert_weights(whole, found, members=2)


@pytest.mark.usefixtures("_two_threads")
@pytest.mark.parametrize(
    ("first", "then", "expected", "told"),
    [
        ("threads", "auto", 2, 0),
        ("threads", "threads", 2, 0),
        ("threads", "in_turn", 1, 0),
        ("in_turn", "auto", 1, 0),  # nothing is saved
        ("in_turn", "threads", 1, 1),
    ],
)
def test_a_resumed_training_has_the_threads_that_it_began_with(
    first: Road, then: Road, expected: int, told: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    wish, sink = replace(job(Plain, first, members=1), cores=2), Telling()
    monkeypatch.setattr(ModuleStepper, "call_steps", 5)
    for name in ("FEWEST_PRODUCTS", "FEWEST_STEPS"):
        monkeypatch.setattr(roads, name, 0)
    with pytest.raises(Interrupted):
        train(wish, tmp_path, Telling(stop_after=1))
    seen = threads_seen(monkeypatch)
    train(replace(wish, road=then), tmp_path, sink)
    assert set(seen) == {expected}
    assert len([text for text in sink.warnings if "stays on it" in text]) == told


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        ([1, 7], ("stacked", 7, False, 1)),  # of earlier versions
        ([0, 0, 1], ("in_turn", None, True, 1)),
        (roads.saved_road("graphs", 3), ("graphs", 3, False, 1)),
        (roads.saved_road("threads", None, compiles=True, threads=4), ("threads", None, True, 4)),
    ],
)
def test_a_saved_road_is_read_again(array: Any, expected: tuple[Any, ...]):
    assert roads.SavedRoad.of(np.array(array)) == expected


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


def test_all_members_together_are_one_group():
    stepper = Together(_training(job(Plain)), Telling(), "stacked", 7)
    stepper.begin()
    assert (stepper.group_size, stepper.call_steps, stepper.arrays()[roads.ROAD].tolist()) == (3, 7, [1, 7, 0, 1])
    stepper.training.threads, stepper.road = 2, "in_turn"  # after a failure of its road
    assert roads.SavedRoad.of(stepper.arrays()[roads.ROAD]) == ("threads", 7, False, 2)
