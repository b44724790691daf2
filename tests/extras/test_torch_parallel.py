"""Members in several processes: the same bits as one after the other, and modules that do not allow it."""

import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch_modules import (
    BatchNorm,
    Buffers,
    Checkpointed,
    CountsCalls,
    CustomGradient,
    DataDependent,
    Dropping,
    Half,
    InPlace,
    Lazy,
    OwnRandom,
    Plain,
    PythonRandom,
    TiedWeights,
)
from torch_support import LSTM, Telling, job_of, registered

from humboldt.core.events import AbstractSink, Event, Progress
from humboldt.errors import Interrupted, RunError
from humboldt.storage.checkpoints import Checkpoints
from humboldt.training.base import Job, Milestone, Recipe, Schedule, engines
from humboldt.training.pytorch import parallel

pytestmark = pytest.mark.extras


PARALLEL = [Plain, LSTM, Dropping, BatchNorm, Buffers, TiedWeights, Checkpointed, InPlace, DataDependent]
PARALLEL += [CustomGradient, Half]
TINY: dict[str, Any] = {"batch_size": 2, "train_lengths": (1, 4), "device": "cpu"}
IN_TURN = [OwnRandom, PythonRandom, CountsCalls]


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(parallel, "FEWEST_STEPS", 1)


def job(module: type, steps: int = 8, cores: int = 2, members: int = 3, **recipe: Any) -> Job:
    one = job_of("chomsky", "parity_check", registered(module), learning_rates=(1e-2,), **TINY)
    several = tuple(replace(one.members[0], seed=i, learning_rate=10.0 ** -(i + 1)) for i in range(members))
    changed: Recipe = replace(one.recipe, steps=steps, **recipe)
    return replace(one, members=several, recipe=changed, cores=cores, road="processes" if cores > 1 else "in_turn")


def train(job: Job, folder: Path, sink: AbstractSink | None = None) -> Any:
    return engines.get("torch").train(job, Checkpoints(folder, save_seconds=0.0), sink or Telling())


def assert_same(first: Any, second: Any, members: int = 3) -> None:
    assert first.outcomes == second.outcomes
    for member in range(members):
        for name, array in first.weights(member).items():
            np.testing.assert_array_equal(second.weights(member)[name], array)


@pytest.fixture
def submitted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The members of all tasks that processes were given."""
    members: list[int] = []
    submit = parallel.Workers.submit

    def noted(self: parallel.Workers, task: parallel.Task) -> None:
        members.append(task.member)
        submit(self, task)

    monkeypatch.setattr(parallel.Workers, "submit", noted)
    return members


@pytest.mark.parametrize("module", PARALLEL)
def test_processes_train_to_the_same_bits(module: type, tmp_path: Path, submitted: list[int]):
    sink = Telling()
    together = train(job(module), tmp_path / "together", sink)
    assert submitted == [0, 0, 0, 1, 2] and not [text for text in sink.warnings if "in turn" in text]
    submitted.clear()
    assert_same(together, train(job(module, cores=1), tmp_path / "in turn"))
    assert not submitted


@pytest.mark.parametrize("module", IN_TURN)
def test_a_module_with_hidden_state_is_trained_in_turn(module: type, tmp_path: Path, submitted: list[int]):
    sink = Telling()
    found = train(job(module), tmp_path, sink)
    assert set(submitted) == {0} and "keeps something between two calls" in sink.warnings[-1]
    if module is not PythonRandom:
        assert_same(found, train(job(module, cores=1), tmp_path / "in turn"))


def test_parameters_that_are_made_lazily_are_refused(tmp_path: Path):
    with pytest.raises(RunError, match="made at the first call"):
        train(job(Lazy), tmp_path)


RECIPES: dict[str, dict[str, Any]] = {
    "sgd": {"optimiser": "sgd", "momentum": 0.9, "nesterov": True},
    "adam": {"optimiser": "adam", "schedule": Schedule(8, start=0.1)},
    "adamw": {"optimiser": "adamw", "gradient_clip": 0.05},
    "restarts": {"restart_every": 60},
}


@pytest.mark.parametrize("recipe", RECIPES)
def test_recipes_milestones_and_resuming(recipe: str, tmp_path: Path):
    def look(step: int, predictor: Any) -> Milestone:
        return Milestone(np.array([step == 60, step, -step], float), [step] * predictor.num_members)

    def asked(cores: int) -> Job:
        made = job(Dropping, steps=104, cores=cores, shrink=0.5, **RECIPES[recipe])
        made.problem.milestones = (60, 102, 104)
        return replace(made, milestone=look)

    in_turn = train(asked(1), tmp_path / "in turn")
    assert_same(train(asked(2), tmp_path / "together"), in_turn)
    for stop, cores in ((1, 2), (2, 1), (1, 2), (3, 2)):  # a training may change from one road to the other
        with pytest.raises(Interrupted):
            train(asked(cores), tmp_path / "part", Telling(stop_after=stop))
    assert_same(train(asked(2), tmp_path / "part"), in_turn)


def test_divergence_is_the_same(tmp_path: Path):
    def asked(cores: int) -> Job:
        made = job(LSTM, steps=110, cores=cores, optimiser="sgd", gradient_clip=None)
        return replace(made, members=(replace(made.members[0], learning_rate=1e38), *made.members[1:]))

    together = train(asked(2), tmp_path / "together")
    assert together.outcomes[0].diverged_at is not None
    assert_same(together, train(asked(1), tmp_path / "in turn"))


class Fails(Plain):
    """Raises an error once its weights are large."""

    def between(self, x: torch.Tensor) -> torch.Tensor:
        if self.training and float(self.readout.bias.detach().abs().sum()) > 1e3:
            raise ValueError("too large")
        return x


def test_an_error_of_a_module_is_told_as_ever(tmp_path: Path):
    made = job(Fails, steps=20, optimiser="sgd", gradient_clip=None)
    made = replace(made, members=(made.members[0], replace(made.members[1], learning_rate=1e6)))
    with pytest.raises(RunError, match="forward raised ValueError: too large"):
        train(made, tmp_path)


class Killing(Telling):
    """Kills the processes that train members after the first event."""

    def send(self, event: Event) -> None:
        super().send(event)
        if isinstance(event, Progress):
            for child in Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split():
                os.kill(int(child), signal.SIGKILL)


@pytest.mark.skipif(
    not Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").exists(), reason="needs the list of children"
)
def test_training_goes_on_when_processes_are_killed(tmp_path: Path):
    sink = Killing()
    found = train(job(Plain, steps=120), tmp_path / "killed", sink)
    assert any("was ended. The others are trained in turn" in text for text in sink.warnings)
    assert_same(found, train(job(Plain, steps=120, cores=1), tmp_path / "in turn"))
