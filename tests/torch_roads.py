"""Jobs, programs and plain steps for the tests of roads by which PyTorch members are trained."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
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
    OwnRandom,
    Plain,
    PythonRandom,
    TiedWeights,
    TwoLayers,
)
from torch_recorder import Recorder
from torch_support import EXAMPLES, LSTM, Telling, job_of, registered

from humboldt.storage.checkpoints import Checkpoints
from humboldt.training.base import Job, Recipe, Road, engines
from humboldt.training.pytorch import roads
from humboldt.training.pytorch.graphs import Graphs
from humboldt.training.pytorch.stacked import Stack
from humboldt.training.pytorch.train import Training

TINY: dict[str, Any] = {"batch_size": 2, "train_lengths": (1, 4), "device": "cpu"}


PCFG_SET = {"size": 200, "letters": 40, "deepest": 2, "epochs": 2, "batch_size": 8, "longest_output": 6}
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


def plain_steps(training: Training, rates: np.ndarray) -> tuple[np.ndarray, list[Any]]:
    batches, learners = training.batches(0, 50), [training.fresh(member) for member in training.members]
    losses = []
    for number, learner in enumerate(learners):
        examples = [training._examples(batch, number) for batch in batches]
        losses.append(training._span(learner, number, 0, examples, float(rates[number])))
    return np.array(losses).transpose(2, 0, 1), learners


PROGRAMS: dict[str, Callable[[Training], roads.Program]] = {
    "stacked": Stack,
    "stacked, recorded": lambda training: Stack(training, Recorder(training.caller.device)),
    "graphs": lambda training: Graphs(training, Recorder),
}
