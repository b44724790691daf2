from pathlib import Path

import pytest
from suite_support import Recording
from training_support import Parity

from humboldt.core.events import Warned
from humboldt.models.zoo.rnn import RNN
from humboldt.storage.checkpoints import Checkpoints
from humboldt.training import idle_gpu
from humboldt.training.base import Job, MemberRecipe, Recipe, engines


@pytest.fixture
def gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with a GPU, on which nobody has asked for the processor."""
    monkeypatch.setattr(idle_gpu, "PLACES", {tmp_path: "nvidia[0-9]*", tmp_path / "nowhere": "*"})
    monkeypatch.setattr(idle_gpu, "_told", set())
    for name in ("JAX_PLATFORMS", "CUDA_VISIBLE_DEVICES"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "nvidia0").mkdir()
    (tmp_path / "nvidiactl").mkdir()
    return tmp_path


def test_it_is_told_once_for_each_library(gpus: Path):
    sink = Recording()
    for library in ("JAX", "JAX", "PyTorch"):
        idle_gpu.warn_of_idle_gpu(library, sink)
    messages = [event.message for event in sink.events if isinstance(event, Warned)]
    assert [("JAX" in message, "PyTorch" in message) for message in messages] == [(True, False), (False, True)]


@pytest.mark.parametrize(("name", "value"), [("JAX_PLATFORMS", "cpu"), ("CUDA_VISIBLE_DEVICES", "-1")])
def test_who_asks_for_the_processor_is_told_nothing(gpus: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str):
    monkeypatch.setenv(name, value)
    sink = Recording()
    idle_gpu.warn_of_idle_gpu("JAX", sink)
    assert not sink.events


def test_without_a_gpu_nothing_is_told(gpus: Path):
    (gpus / "nvidia0").rmdir()
    sink = Recording()
    idle_gpu.warn_of_idle_gpu("JAX", sink)
    assert not sink.events


def test_an_engine_on_the_processor_tells_it(gpus: Path, tmp_path: Path):
    sink = Recording()
    job = Job(RNN(hidden_size=2), Parity(), Recipe(steps=1), (MemberRecipe(0, 1e-2),))
    engines.get("jax").train(job, Checkpoints(tmp_path / "checkpoints"), sink)
    assert any(isinstance(event, Warned) and "JAX computes on the processor" in event.message for event in sink.events)
