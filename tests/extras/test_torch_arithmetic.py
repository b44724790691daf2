"""Products in single precision on a GPU: TF32 unless a recipe asks for exact ones, by PyTorch's switches."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch_modules import Plain
from torch_roads import PCFG_SET, PROGRAMS, job
from torch_support import job_of, registered

from humboldt.training.base import Job
from humboldt.training.engines.torch import _training
from humboldt.training.pytorch import arithmetic, calling
from humboldt.training.pytorch.predictor import ModulePredictor
from humboldt.training.pytorch.roads import _Plain
from humboldt.training.pytorch.stepping import ModuleStepper
from humboldt.training.pytorch.train import Trial

pytestmark = pytest.mark.extras

GPU = torch.device("cuda")  # there need not be one
BACKENDS: Any = torch.backends
READ: dict[str, Callable[[], Any]] = {
    "products": lambda: BACKENDS.cuda.matmul.fp32_precision,
    "convolutions": lambda: BACKENDS.cudnn.conv.fp32_precision,
    "recurrent": lambda: BACKENDS.cudnn.rnn.fp32_precision,
    "products on a CPU": lambda: BACKENDS.mkldnn.matmul.fp32_precision,
    "older, products": lambda: BACKENDS.cuda.matmul.allow_tf32,
    "older, cudnn": lambda: BACKENDS.cudnn.allow_tf32,
    "older, precision": torch.get_float32_matmul_precision,
}


def switches() -> dict[str, Any]:
    """All switches; an error where PyTorch refuses to read one."""
    found = {}
    for name, read in READ.items():
        try:
            found[name] = read()
        except RuntimeError as error:
            found[name] = str(error)
    return found


def rounds() -> set[bool]:
    """Whether products, convolutions and recurrent layers round their factors on a GPU."""
    return {switches()[name] == "tf32" for name in ("products", "convolutions", "recurrent")}


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before, newer = switches(), [switch.fp32_precision for switch in arithmetic.NEWER]
    yield
    BACKENDS.fp32_precision = "none"
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = True
    for switch, value in zip(arithmetic.NEWER, newer, strict=True):
        switch.fp32_precision = value
    assert switches() == before


def _set(place: Any, name: str, value: Any) -> Callable[[], None]:
    return lambda: setattr(place, name, value)


OF_USER: dict[str, Callable[[], None]] = {
    "nothing": lambda: None,
    "products": _set(BACKENDS.cuda.matmul, "allow_tf32", True),
    "cudnn": _set(BACKENDS.cudnn, "allow_tf32", False),
    "medium": lambda: torch.set_float32_matmul_precision("medium"),
    "high": lambda: torch.set_float32_matmul_precision("high"),
    "highest": lambda: torch.set_float32_matmul_precision("highest"),
    "newer products": _set(BACKENDS.cuda.matmul, "fp32_precision", "tf32"),
    "newer convolutions": _set(BACKENDS.cudnn.conv, "fp32_precision", "ieee"),
    "newer, all": _set(BACKENDS, "fp32_precision", "ieee"),
}


@pytest.mark.parametrize("of_user", OF_USER)
@pytest.mark.parametrize("exact", [False, True])
def test_switches_are_set_inside_and_restored_outside(of_user: str, exact: bool):
    OF_USER[of_user]()
    before = switches()
    with pytest.raises(KeyError), arithmetic.own_products(GPU, exact=exact):
        assert rounds() == {not exact} == {arithmetic.rounds_products(GPU)}
        inside = switches()
        with arithmetic.own_products(GPU, exact=not exact):
            assert rounds() == {exact}
        assert switches() == inside
        raise KeyError
    assert switches() == before


@pytest.mark.parametrize("exact", [False, True])
def test_older_switches_can_be_read_inside(exact: bool):
    """Compiled modules and `torch.backends.cudnn.flags` read them, and PyTorch refuses it where both kinds differ."""
    with arithmetic.own_products(GPU, exact=exact):
        assert torch.backends.cuda.matmul.allow_tf32 == torch.backends.cudnn.allow_tf32 == (not exact)
        with torch.backends.cudnn.flags(enabled=False):
            pass


def test_nothing_changes_for_a_cpu():
    before = switches()
    with arithmetic.own_products(torch.device("cpu"), exact=False):
        assert switches() == before


SEEN: list[tuple[str, bool]] = []


class _Backward(torch.autograd.Function):
    """Notes the switches in the backward pass."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Keeps nothing."""

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> torch.Tensor:
        (is_rounded,) = rounds()
        SEEN.append(("backward", is_rounded))
        return gradients[0].clone()


class Noting(Plain):
    """Notes the switches whenever it computes."""

    def between(self, x: torch.Tensor) -> torch.Tensor:
        (is_rounded,) = rounds()
        SEEN.append(("forward", is_rounded))
        return _Backward.apply(x) if torch.is_grad_enabled() else x  # pyright: ignore[reportReturnType]


class BySymbols(Noting):
    """Reads one symbol at a time, too."""

    def step(self, tokens: torch.Tensor, state: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
        x, after = self.gru(self.embedding(tokens)[None], state)
        return self.readout(self.between(x)[0]), after


@pytest.fixture(name="wish", params=[False, True])
def _wish(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Job:
    """A job with exact products or without. Its device is the CPU, but switches are set as for a GPU."""
    own_products = arithmetic.own_products
    monkeypatch.setattr(calling, "own_products", lambda device, exact: own_products(GPU, exact=exact))
    SEEN.clear()
    return job(Noting, steps=4, exact_products=request.param)


@pytest.mark.parametrize("name", ["in_turn", *PROGRAMS])
def test_every_road_computes_as_the_recipe_asks_for(name: str, wish: Job):
    training, before = _training(wish), switches()
    learners, batches = [training.fresh(member) for member in training.members], training.batches(0, 2)
    if name in PROGRAMS:
        PROGRAMS[name](training).advance(learners, 0, batches, np.ones(3))
    else:
        training._span(learners[0], 0, 0, [training._examples(batch, 0) for batch in batches])
    assert set(SEEN) == {(part, not wish.recipe.exact_products) for part in ("forward", "backward")}
    assert switches() == before


def test_both_sides_of_a_trial_compute_as_the_recipe_asks_for(wish: Job):
    plain = _Plain(_training(wish))
    count = len(SEEN)
    plain.compared("stacked")
    assert count and len(SEEN) > count
    assert set(SEEN) == {(part, not wish.recipe.exact_products) for part in ("forward", "backward")}


@pytest.mark.parametrize("stacked", [False, True])
def test_members_are_evaluated_as_the_recipe_asks_for(stacked: bool, wish: Job):
    training, before = _training(wish), switches()
    batch, modules = wish.problem.batch(0), [training.fresh(member).module for member in training.members]
    predictor = ModulePredictor(modules, training.caller, stacked=stacked)
    tokens, mask = batch.tokens[0], np.ones_like(batch.tokens[0], bool)
    whole, network = predictor.stepper(0, longest=4, most_memory=0)[0], predictor.model(0)
    by_symbols = ModuleStepper(BySymbols(wish.problem.input_size, wish.problem.output_size), training.caller)
    predictor.correct(batch)  # the first use of stacked modules is a trial
    for work in (
        lambda: predictor.correct(batch),
        lambda: predictor.nats(batch),
        lambda: whole.step(whole.init(2), batch.tokens[:2, 0]),
        lambda: by_symbols.step(None, batch.tokens[:, 0]),
        lambda: network(tokens, mask),
    ):
        SEEN.clear()
        work()
        assert set(SEEN) == {("forward", not wish.recipe.exact_products)}
    assert switches() == before and predictor.stacked == stacked


@pytest.mark.parametrize("stacked", [False, True])
def test_outputs_are_written_as_the_recipe_asks_for(stacked: bool, wish: Job):
    one = job_of("pcfg_set", "task_accuracy", registered(Noting), **PCFG_SET, device="cpu")
    training = _training(replace(one, recipe=replace(one.recipe, exact_products=wish.recipe.exact_products)))
    modules = [training.fresh(one.members[0]).module for _ in range(2)]
    predictor, batch = ModulePredictor(modules, training.caller, stacked=stacked), one.problem.batch(0)
    for _ in range(2):  # the first time after a trial
        SEEN.clear()
        predictor.outputs(batch, 2)
    assert set(SEEN) == {("forward", not wish.recipe.exact_products)} and predictor.stacked == stacked


def test_logits_that_should_be_equal_are_compared_with_exact_products(wish: Job):
    """Rounded factors would make differences that are no faults."""
    training, batch = _training(wish), wish.problem.batch(0)
    modules = [training.fresh(member).module for member in training.members]
    trial, predictor = Trial(modules[0], training), ModulePredictor(modules, training.caller, stacked=True)
    for work in (
        lambda: trial.logits(batch),
        lambda: trial.gradient_norm(batch),
        lambda: predictor._stacked(batch),
    ):
        SEEN.clear()
        work()
        assert SEEN and not any(is_rounded for _, is_rounded in SEEN)
