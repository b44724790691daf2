"""Members that are evaluated together, and the plain forms of recurrent layers."""

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torch_modules import (
    DataDependent,
    EncoderDecoder,
)
from torch_roads import GRU, PCFG_SET, TINY, TRANSFORMER, job
from torch_support import job_of, registered

from humboldt.languages import Batch
from humboldt.training.abilities import CountsRight, GivesProbabilities, WritesOutputs, ability
from humboldt.training.base import Job
from humboldt.training.engines.torch import _training
from humboldt.training.pytorch.plain_layers import PlainLayers
from humboldt.training.pytorch.predictor import ModulePredictor
from humboldt.training.pytorch.train import Training

pytestmark = pytest.mark.extras


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
