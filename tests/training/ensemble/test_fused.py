"""Ensembles whose loops over time run as kernels, with scans in their place, against those by the scan of today."""

from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from fused_support import Scans
from fused_support import fresh_kernels as fresh_kernels
from fused_support import kernel_scans as kernel_scans
from suite_support import Recording
from training_support import Parity

from humboldt.models.loop.fused import choice, kernels
from humboldt.models.loop.fused.launch import TARGET
from humboldt.models.zoo.family.gru import GRU
from humboldt.models.zoo.rnn import RNN
from humboldt.models.zoo.stack_rnn import StackRNN
from humboldt.storage.checkpoints import Checkpoints
from humboldt.training.base import Job, MemberRecipe, Recipe, engines
from humboldt.training.engines.jax import make_ensemble
from humboldt.training.ensemble import evaluate as evaluation
from humboldt.training.ensemble import train as module

ENGINE = engines.get("jax")
MODELS = {"rnn": RNN(hidden_size=8), "gru": GRU(hidden_size=8), "stack_rnn": StackRNN(hidden_size=8, cell_size=3)}


class OfOneLength(Parity):
    buckets = (13,)


def job(model: Any, steps: int = 200, members: int = 3, problem: Parity | None = None, **options: Any) -> Job:
    recipes = tuple(MemberRecipe(seed, 1e-2) for seed in range(members))
    return Job(model, problem or OfOneLength(), Recipe(steps=steps), recipes, **options)


@pytest.fixture
def as_on_a_gpu(kernel_scans: Scans, monkeypatch: pytest.MonkeyPatch) -> Scans:
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")  # members by vmap, hoisted gradients
    monkeypatch.setattr(module, "keep_compiled_programs", lambda: None)
    return kernel_scans


@pytest.mark.parametrize(
    "name", ["rnn", *(pytest.param(name, marks=pytest.mark.slow) for name in ("gru", "stack_rnn"))]
)
def test_200_steps_by_both_roads_agree_and_all_members_are_in_one_call(name: str, as_on_a_gpu: Scans, tmp_path: Path):
    found = ENGINE.train(job(MODELS[name]), Checkpoints(tmp_path / "fused"), Recording())
    calls = {call[:3] for call in as_on_a_gpu.calls if call[2] == 3}
    assert calls == {("forward", name, 3), ("backward", name, 3)}
    as_on_a_gpu.calls.clear()
    expected = ENGINE.train(job(MODELS[name], fused=False), Checkpoints(tmp_path / "scan"), Recording())
    assert not as_on_a_gpu.calls
    for ours, theirs in zip(found.outcomes, expected.outcomes, strict=True):
        losses, others = (outcome.detail["training"]["loss"] for outcome in (ours, theirs))
        assert losses[-1] < losses[0]
        np.testing.assert_allclose(losses, others, rtol=2e-3)
    for member in range(3):
        for weight, other in zip(found.weights(member).values(), expected.weights(member).values(), strict=True):
            np.testing.assert_allclose(weight, other, rtol=2e-2, atol=2e-3)
    evaluated(found.predictor, expected.predictor, as_on_a_gpu)


def evaluated(found: Any, expected: Any, scans: Scans) -> None:
    """An RNN is scored by the kernel, whose limit of steps is that of the tests; a stack is too long for it."""
    batch = Parity().batch(1000).padded(30)
    evaluation.TIME_BUCKET, before = 30, evaluation.TIME_BUCKET
    try:
        right = [predictor.correct(batch) for predictor in (expected, found)]
    finally:
        evaluation.TIME_BUCKET = before
    np.testing.assert_array_equal(*right)
    assert {call[-1] for call in scans.calls if call[2] == 3} == {False}  # nothing is kept for gradients


@pytest.mark.parametrize(
    ("options", "longest", "loop", "sentence"),
    [
        ({}, 40, "fused", "RNN: the loop over time runs as one kernel."),
        ({"fused": False}, 40, "scan", "RNN: the loop over time is a scan: it was asked for."),
        ({}, 5, "scan", "RNN: the loop over time is a scan: it has too many steps."),
        ({}, 8, "fused and scan", "RNN: the loop over time runs as one kernel, but for some lengths it is a scan: it "
         "has too many steps."),
    ],
)  # fmt: skip
def test_the_environment_and_the_plan_say_how_loops_run(
    options: dict[str, Any], longest: int, loop: str, sentence: str, as_on_a_gpu: Scans, monkeypatch: pytest.MonkeyPatch
):
    reason = "it has too many steps"
    monkeypatch.setattr(kernels, "fits", lambda kind, sizes: reason if sizes.steps > longest else None)
    one = job(MODELS["rnn"], problem=Parity(), **options)
    assert {steps for steps, _ in make_ensemble(one).buckets} == {8, 13}
    assert ENGINE.environment_of(one)["loop"] == loop and ENGINE.road(one) == sentence


def test_without_a_gpu_neither_says_anything():
    one = job(MODELS["rnn"])
    assert choice.device_fault() == "there is no GPU"
    assert ENGINE.environment_of(one) == ENGINE.environment() and ENGINE.road(one) is None


def test_a_diverged_member_harms_nobody(as_on_a_gpu: Scans):
    """The second member begins with weights that are not numbers."""
    ensemble = make_ensemble(job(MODELS["rnn"], 20))

    def losses(spoilt: bool) -> np.ndarray:
        learners, chunk = ensemble.fresh().learners, ensemble.chunk(0, 20)
        if spoilt:
            weights = jax.tree.map(lambda x: x.at[1].set(jnp.nan), learners.weights)
            learners = learners._replace(weights=weights)
        return np.asarray(ensemble.advance(learners, chunk)[1].loss)

    whole, spoilt = losses(False), losses(True)
    assert np.isfinite(whole).all() and not np.isfinite(spoilt[1]).any()
    np.testing.assert_array_equal(spoilt[[0, 2]], whole[[0, 2]])


@pytest.mark.parametrize("name", MODELS)
def test_a_program_for_a_gpu_calls_the_kernels_once_for_all_members(
    name: str, fresh_kernels: None, monkeypatch: pytest.MonkeyPatch
):
    """The real ones. The program is lowered, not compiled: no machine of the tests could run it."""
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    monkeypatch.setattr(module, "keep_compiled_programs", lambda: None)
    monkeypatch.setattr(choice, "device_fault", lambda: "")
    monkeypatch.setattr(choice, "fault_of", lambda *arguments: "")
    ensemble = make_ensemble(job(MODELS[name], 20, members=5))

    def advance(learners: Any) -> Any:
        return eqx.filter(ensemble.advance(learners, ensemble.chunk(0, 20)), eqx.is_array)

    text = jax.jit(advance).trace(ensemble.fresh().learners).lower(lowering_platforms=("cuda",)).as_text()
    calls = [line for line in text.splitlines() if f"@{TARGET}" in line.replace('"', "")]
    assert len(calls) == 2 and all("tensor<5x8x13x" in line for line in calls)
