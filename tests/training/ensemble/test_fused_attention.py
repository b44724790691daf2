"""Ensembles of Transformers whose attention runs as kernels, with products in their place."""

from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np
import pytest
from attention_support import Products
from attention_support import fresh_attention as fresh_attention
from attention_support import kernel_products as kernel_products
from suite_support import Recording
from training_support import Parity

from humboldt.models.layers.fused.kernels import Form
from humboldt.models.loop.fused import choice
from humboldt.models.loop.fused.launch import TARGET
from humboldt.models.zoo.transformer_encoder import TransformerEncoder
from humboldt.storage.checkpoints import Checkpoints
from humboldt.training.base import Job, MemberRecipe, Recipe, engines
from humboldt.training.engines.jax import make_ensemble
from humboldt.training.ensemble import train as module

ENGINE = engines.get("jax")


class OfOneLength(Parity):
    buckets = (13,)


def job(positions: Any = "relative", steps: int = 20, layers: int = 2, **options: Any) -> Job:
    model = TransformerEncoder(positions=positions, num_layers=layers, width=16, num_heads=2)
    recipes = tuple(MemberRecipe(seed, 1e-2) for seed in range(3))
    return Job(model, OfOneLength(), Recipe(steps=steps), recipes, **options)


@pytest.fixture
def as_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")  # members by vmap, no loop over layers
    monkeypatch.setattr(module, "keep_compiled_programs", lambda: None)


@pytest.mark.slow
def test_training_by_both_roads_agrees(as_on_a_gpu: None, kernel_products: Products, tmp_path: Path):
    found = ENGINE.train(job(), Checkpoints(tmp_path / "fused"), Recording())
    of_all = kernel_products.of(3, 8)
    assert {call[:2] for call in of_all} == {(way, Form(relative=True)) for way in ("forward", "backward")}
    kernel_products.calls.clear()
    expected = ENGINE.train(job(fused=False), Checkpoints(tmp_path / "plain"), Recording())
    assert not kernel_products.calls
    for ours, theirs in zip(found.outcomes, expected.outcomes, strict=True):
        losses, others = (outcome.detail["training"]["loss"] for outcome in (ours, theirs))
        np.testing.assert_allclose(losses, others, rtol=2e-3)
    batch = Parity().batch(1000).padded(30)
    predictors: list[Any] = [trained.predictor for trained in (found, expected)]
    np.testing.assert_array_equal(*(predictor.correct(batch) for predictor in predictors))
    assert kernel_products.calls and {call[0] for call in kernel_products.calls} == {"forward"}


@pytest.mark.parametrize(
    ("positions", "options", "attention", "sentence"),
    [
        ("relative", {}, "fused", "runs as one kernel"),
        ("relative", {"fused": False}, "plain", "is plain products: it was asked for"),
        ("t5", {}, "plain", "is plain products: there is no kernel for positions=t5"),
    ],
)
def test_the_environment_and_the_plan_say_how_attention_runs(
    positions: str, options: dict[str, Any], attention: str, sentence: str, as_on_a_gpu: None, kernel_products: Products
):
    one = job(positions, **options)
    environment = ENGINE.environment_of(one)
    assert environment["attention"] == attention and "loop" not in environment
    assert ENGINE.road(one) == f"Transformer encoder: attention {sentence}."


def test_without_a_gpu_neither_says_anything():
    assert ENGINE.environment_of(job()) == ENGINE.environment() and ENGINE.road(job()) is None


@pytest.mark.parametrize("positions", ["none", "relative"])
def test_a_program_for_a_gpu_calls_the_kernels_once_a_layer_for_all_members(
    positions: str, as_on_a_gpu: None, fresh_attention: None, monkeypatch: pytest.MonkeyPatch
):
    """The real ones. The program is lowered, not compiled: no machine of the tests could run it."""
    monkeypatch.setattr(choice, "device_fault", lambda: "")
    monkeypatch.setattr("humboldt.models.layers.fused.choice.fault_of", lambda *arguments: "")
    layers, ensemble = 2, make_ensemble(job(positions))

    def advance(learners: Any) -> Any:
        return eqx.filter(ensemble.advance(learners, ensemble.chunk(0, 20)), eqx.is_array)

    text = jax.jit(advance).trace(ensemble.fresh().learners).lower(lowering_platforms=("cuda",)).as_text()
    calls = [line for line in text.splitlines() if f"@{TARGET}" in line.replace('"', "")]
    assert len(calls) == 2 * layers and all("tensor<3x8x13x2x8xf32>" in line for line in calls)
    assert sum("attention_forward" in line for line in calls) == layers
