"""One causal module on every suite: source and target as one string, whole strings instead of prefixes."""

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
import torch
from torch import nn
from torch_support import EXAMPLES, LSTM, SMALL, STEPS, Telling, job_of, losses, registered, t, trained

import humboldt
from humboldt.core.stepping import FromPrefixes, FromStrings
from humboldt.errors import RunError
from humboldt.languages import Batch, ProblemKind
from humboldt.languages.bliss import get
from humboldt.measures.bliss import accepts_each, evaluate
from humboldt.outside.model_check import check_network
from humboldt.training.abilities import ReadsSymbols, WritesOutputs, ability
from humboldt.training.base import AbstractProblem, Job, engines
from humboldt.training.engines.jax import build
from humboldt.training.engines.torch import _training

pytestmark = pytest.mark.extras
PCFG_SET = {"size": 200, "letters": 40, "deepest": 2, "epochs": 2, "batch_size": 32, "longest_output": 6}
BIAS = {"description_length": False, "longest_output": 6}
SEQUENCES = {"pcfg_set": ("task_accuracy", PCFG_SET), "bias": ("hierarchical_or_linear", BIAS)}
SIZES = {"hidden_size": 8}


def job_on(suite: str, model: str) -> Job:
    task, settings = SEQUENCES[suite]
    job = job_of(suite, task, model, **settings, **SIZES)
    return replace(job, recipe=replace(job.recipe, steps=STEPS), milestone=None)


def joined_rows(problem: AbstractProblem, batch: Batch) -> Iterator[tuple[list[int], list[int]]]:
    """Source, start, and target but its last symbol, as one list for each row; and the target."""
    for i in range(len(batch.tokens)):
        target = batch.targets[i][batch.target_mask[i]].tolist()
        told = [problem.start, *target[:-1]]
        yield [*batch.tokens[i][batch.mask[i]].tolist(), *(x + problem.input_size for x in told)], target


class AsTransduction(AbstractProblem):
    """A sequence-to-sequence problem as the concatenated one that it is for a causal network, row by row."""

    kind = ProblemKind.TRANSDUCTION

    def __init__(self, problem: AbstractProblem) -> None:
        assert problem.longest_target is not None
        self.problem, self.symbols, self.num_symbols = problem, problem.symbols, problem.input_size
        self.input_size, self.output_size = problem.input_size + problem.output_size, problem.output_size
        self.batch_size, self.longest = problem.batch_size, problem.longest + problem.longest_target

    def batch(self, step: int) -> Batch:
        batch = self.problem.batch(step)
        arrays: list[Any] = [np.zeros((len(batch.tokens), self.longest), x) for x in (np.int32, bool, np.int32, bool)]
        for i, (string, target) in enumerate(joined_rows(self.problem, batch)):
            begin = len(string) - len(target)
            for array, values, first in zip(arrays, (string, True, target, True), (0, 0, begin, begin), strict=True):
                array[i, first : len(string)] = values
        return Batch(*arrays, weight=batch.weight)


@pytest.mark.parametrize("suite", SEQUENCES)
def test_the_same_weights_give_the_losses_of_jax_on_joined_strings(suite: str):
    theirs = job_on(suite, registered(LSTM))
    ours = job_of("chomsky", "parity_check", "torch_lstm", learning_rates=(1e-3,), **SIZES)
    ours = replace(ours, problem=AsTransduction(theirs.problem), recipe=theirs.recipe, members=theirs.members)
    module = _training(theirs).fresh(theirs.members[0]).module
    assert isinstance(module, LSTM) and module.input_size == ours.problem.input_size
    module.copy(build(ours, jax.random.key(ours.members[0].seed)))
    expected, found = losses(ours, theirs, module)
    assert len(set(expected.round(6))) > STEPS // 2
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("example", ["pytorch_gru.py:GRU", "pytorch_transformer.py:Transformer"])
def test_a_target_follows_the_last_token_of_its_source_and_padding_changes_nothing(example: str):
    job = job_on("pcfg_set", f"{EXAMPLES / example}")
    training = _training(job)
    module, caller = training.fresh(job.members[0]).module.eval(), training.caller
    batch = job.problem.batch(0).take(slice(6))
    assert len(set(batch.mask.sum(1))) > 1 and len(set(batch.target_mask.sum(1))) > 1
    with torch.no_grad():
        logits = caller.of_batch(module, batch).numpy()
        padded = caller.of_batch(module, batch.padded(batch.time + 5, batch.target_time + 3)).numpy()
        for row, (string, target) in enumerate(joined_rows(job.problem, batch)):
            alone = module(torch.tensor([string]))[0, -len(target) :].numpy()
            np.testing.assert_allclose(logits[row, : len(target)], alone, atol=1e-5)
            np.testing.assert_allclose(padded[row, : len(target)], alone, atol=1e-5)


class WithoutStep(nn.Module):
    """A module whose method `step` is not seen."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.module(tokens)


@pytest.mark.parametrize("suite", SEQUENCES)
def test_outputs_read_step_by_step_are_those_of_reading_all_again(suite: str):
    job = job_on(suite, f"{EXAMPLES / 'pytorch_gru.py'}:GRU")
    predictor: Any = engines.get("torch").sample(job)[0]
    module = predictor.modules[0]
    generator = torch.Generator().manual_seed(3)
    for parameter in module.parameters():  # larger weights, so that outputs differ
        parameter.data = torch.randn(parameter.shape, generator=generator)
    rng = np.random.default_rng(0)
    mask = np.arange(9) < rng.integers(1, 10, 40)[:, None]
    tokens = rng.integers(job.problem.num_symbols, size=mask.shape).astype(np.int32) * mask
    batch = Batch(tokens, mask, tokens[:, :1], mask[:, :1], np.ones(40, np.float32))
    module.readout.weight.data[job.problem.end] = 0  # some outputs end early
    most = module(torch.from_numpy(tokens).long()).amax(-1).detach()
    module.readout.bias.data[job.problem.end] = most.quantile(0.3)
    stepwise = ability(predictor, WritesOutputs).outputs(batch, 7)
    whole = copy(predictor)
    whole.modules = [WithoutStep(module)]
    again = ability(whole, WritesOutputs).outputs(batch, 7)
    np.testing.assert_array_equal(stepwise, again)
    ends = (stepwise[0] == job.problem.end).any(1)
    assert ends.any() and not ends.all() and len(np.unique(stepwise[0], axis=0)) > 1


@pytest.mark.parametrize("task", ["an_bn", "dyck_1", "an_bm_cn_plus_m"])
def test_a_string_that_is_read_once_answers_for_all_its_prefixes(task: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("humboldt.measures.bliss._ahead.FIRST_SYMBOLS", 4)
    job = job_of("bliss", task, f"{EXAMPLES / 'pytorch_transformer.py'}:Transformer", factors=(4,), **SIZES)
    predictor, _ = engines.get("torch").sample(job)
    stepper, rows = ability(predictor, ReadsSymbols).stepper(0, longest=100, most_memory=10)
    assert isinstance(stepper, FromStrings) and rows > 100
    read, symbols = stepper.read, []

    def counted(tokens: np.ndarray, first: int) -> np.ndarray:
        symbols.append(tokens.size)
        return read(tokens, first)

    stepper.read = counted
    prefixes = FromPrefixes(lambda tokens: read(tokens, tokens.shape[1] - 1)[:, 0])
    test_set: Any = get(task).test_set(after=3, count=30)
    for most_rows in (100, 7):
        symbols.clear()
        found = evaluate(test_set, stepper, epsilons=(0.4, 0.0), exhaustive=True, most_rows=most_rows)
        expected = evaluate(test_set, prefixes, epsilons=(0.4, 0.0), exhaustive=True, most_rows=most_rows)
        assert found.scores == expected.scores and found.symbols == expected.symbols
        np.testing.assert_allclose(found.test_set_divergence, expected.test_set_divergence, rtol=1e-5)
        assert sum(symbols) <= 4 * len(test_set) * (max(map(len, test_set)) + 1)
    language = test_set.language
    strings = [string for string in test_set if len(string) == len(test_set[5])]
    accepted = [accepts_each(language, each, strings, 0.3) for each in (stepper, prefixes)]
    np.testing.assert_array_equal(accepted[0], accepted[1])


class BothWays(nn.Module):
    """Reads ahead, but not the padding."""

    def __init__(self, input_size: int, output_size: int) -> None:
        super().__init__()
        self.embedding, self.readout = nn.Embedding(input_size, 4), nn.Linear(4, output_size)

    def forward(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        x = self.embedding(tokens)
        return self.readout(x + (x * mask[..., None]).sum(1, keepdim=True))


def test_a_module_that_reads_ahead_is_given_the_suites_that_remain(tmp_path: Path):
    name = registered(BothWays)
    fits = check_network(name, "chomsky", "parity_check", preset="quick", settings={})
    assert fits.passed
    _, _, names = fits.findings[-1].text.partition("it reads ahead, and can be run on ")
    remaining = set(names.removesuffix(" only").split(", "))
    assert {"chomsky", "syntax"} <= remaining and not {"bliss", "pcfg_set", "bias"} & remaining
    task, settings = SEQUENCES["bias"]
    refused = check_network(name, "bias", task, preset="quick", settings=settings)
    (failed,) = [finding for finding in refused.findings if not finding.passed]
    assert failed.check == "causality" and f"As it is, it can be run on {names.removesuffix(' only')}." in failed.advice
    with pytest.raises(RunError, match="a later symbol changes answers"):
        trained(replace(job_of("bias", task, name, **BIAS), milestone=None), tmp_path, Telling())
    causal = check_network(registered(LSTM), "syntax", "adj_n_np", preset="quick", settings={})
    _, _, names = causal.findings[-1].text.partition("it can be run on ")
    assert set(SMALL) <= set(names.split(", "))


@pytest.mark.parametrize("suite", SMALL)
def test_the_transformer_runs_on_every_suite(suite: str, tmp_path: Path):
    task, settings = SMALL[suite]
    if suite == "bliss":
        settings = {**settings, "order": 1, "factors": (1,)}
    reference = f"{EXAMPLES / 'pytorch_transformer.py'}:Transformer"
    study = humboldt.run(suite, tasks=task, models=reference, seeds=1, settings={**settings, **SIZES}, out=tmp_path)
    assert not study.pending() and "pytorch_transformer.py:Transformer" in study.table()


class Embedded(nn.Module):
    """The family `lstm` in PyTorch: one causal module for all suites."""

    def __init__(self, input_size: int, output_size: int, hidden_size: int = 8) -> None:
        super().__init__()
        self.embedding = nn.Embedding(input_size, hidden_size)
        self.lstm = nn.LSTM(hidden_size, hidden_size, batch_first=True)
        self.readout = nn.Linear(hidden_size, output_size)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.readout(self.lstm(self.embedding(tokens))[0])

    def copy(self, network: Any) -> None:
        LSTM.copy(self, network)  # pyright: ignore[reportArgumentType]
        self.embedding.weight.data = t(network.embedding.weight)


ALL_SUITES: dict[str, tuple[str, dict[str, Any]]] = {
    **SEQUENCES,
    "chomsky": ("parity_check", {"learning_rates": (1e-3,), "batch_size": 8, "train_lengths": (1, 6)}),
    "bliss": ("an_bn", {"factors": (4,), "penalties": ("none",)}),
    "syntax": (
        "adj_n_np",
        {"train": 64, "validation": 4, "test": 4, "long": 4, "batch_size": 16, "lengths": (4, 8), "terminals": (2,)},
    ),
}


@pytest.mark.parametrize("suite", ALL_SUITES)
def test_one_module_and_the_family_with_its_weights_have_the_same_losses(suite: str):
    task, settings = ALL_SUITES[suite]
    ours = job_of(suite, task, "family/lstm", **settings, **SIZES)
    ours = replace(ours, recipe=replace(ours.recipe, steps=STEPS), milestone=None)
    theirs = replace(ours, model=job_of(suite, task, registered(Embedded), **settings, **SIZES).model)
    module = _training(theirs).fresh(theirs.members[0]).module
    assert isinstance(module, Embedded)
    network = build(ours, jax.random.key(ours.members[0].seed))
    module.copy(network.network if suite in SEQUENCES else network)
    expected, found = losses(ours, theirs, module)
    assert len(set(expected.round(6))) > STEPS // 2
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
