"""What the tests of PyTorch modules share: networks, jobs, and losses beside those of JAX."""

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

import humboldt
from humboldt.core.events import AbstractSink, Event, Warned
from humboldt.models.own import register_model
from humboldt.storage.checkpoints import Checkpoints
from humboldt.suites import resolving
from humboldt.suites.experiments import Experiment
from humboldt.training.base import Job, engines
from humboldt.training.engines.jax import make_ensemble
from humboldt.training.engines.torch import _training
from humboldt.training.pytorch.steps import learning_rate_factor, train_step

EXAMPLES = Path(__file__).parents[1] / "examples"
STEPS = 20
torch.set_num_threads(1)  # networks are tiny, and other tests run beside these


def t(array: Any) -> torch.Tensor:
    return torch.from_numpy(np.array(array))


def gates(layer: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Weight and bias with the gates in PyTorch's order: ours have input, new, forget, output."""

    def ordered(array: Any) -> torch.Tensor:
        i, g, f, o = np.split(np.array(array), 4, -1)
        return t(np.concatenate([i, f, g, o], -1))

    bias = ordered(layer.bias) if layer.bias is not None else torch.zeros(layer.weight.shape[-1])
    return ordered(layer.weight).T.contiguous(), bias


class LSTM(nn.Module):
    """Ours, `torch_lstm`, in PyTorch."""

    def __init__(self, input_size: int, output_size: int, hidden_size: int = 8) -> None:
        super().__init__()
        self.lstm = nn.LSTM(input_size, hidden_size, batch_first=True)
        self.readout = nn.Linear(hidden_size, output_size)
        self.input_size = input_size

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.readout(self.lstm(nn.functional.one_hot(tokens, self.input_size).float())[0])

    def copy(self, network: Any) -> None:
        own = dict(self.named_parameters())
        for name, layer in (("ih", network.cell.input), ("hh", network.cell.recurrent)):
            own[f"lstm.weight_{name}_l0"].data, own[f"lstm.bias_{name}_l0"].data = gates(layer)
        self.readout.weight.data, self.readout.bias.data = t(network.readout.weight).T, t(network.readout.bias)


def registered(module: type) -> str:
    """Registers a module as one of the file that defines it: two files may have modules of one name."""
    return register_model(f"{Path(inspect.getfile(module)).name}:{module.__name__}", module)


def job_of(suite: str, task: str, model: str, **settings: Any) -> Job:
    study = humboldt.plan(suite, tasks=task, models=model, preset="paper", seeds=1, settings=settings)
    experiment: Experiment = study.experiments[0]
    return study.suite.job(resolving.resolved(experiment), experiment.members[:1])


def losses(ours: Job, theirs: Job, module: nn.Module) -> tuple[np.ndarray, np.ndarray]:
    ensemble = make_ensemble(ours)
    _, curve = ensemble.advance(ensemble.fresh().learners, ensemble.chunk(0, STEPS))
    training = _training(theirs)
    learner = training.fresh(theirs.members[0])
    learner.module.load_state_dict(module.state_dict())
    found = []
    for step in range(STEPS):
        rate = theirs.members[0].learning_rate * learning_rate_factor(theirs.recipe.schedule, step)
        batch = training._examples(theirs.problem.batch(step), 0)
        found.append(
            train_step(
                training.caller, learner.called, learner.optimiser, theirs.recipe, theirs.members[0], rate, batch
            )
        )
    return np.asarray(curve.loss)[0, :STEPS], np.array([loss for loss, _, _ in found])


class Telling(AbstractSink):
    """Remembers warnings, and stops after so many events."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.warnings: list[str] = []
        self.left = stop_after

    def send(self, event: Event) -> None:
        if isinstance(event, Warned):
            self.warnings.append(event.message)
        elif self.left is not None:
            self.left -= 1

    def should_stop(self) -> bool:
        return self.left is not None and self.left <= 0


def trained(job: Job, folder: Path, sink: AbstractSink) -> Any:
    return engines.get("torch").train(job, Checkpoints(folder, save_seconds=0.0), sink)


SMALL: dict[str, tuple[str, dict[str, Any]]] = {
    "chomsky": ("parity_check", {"steps": 3, "num_test_lengths": 2, "strings_per_length": 4}),
    "bliss": ("dyck_1", {"epochs": 1, "factors": (4,)}),
    "syntax": ("adj_n_np", {"epochs": 1, "train": 8, "validation": 4, "test": 4, "long": 4}),
    "pcfg_set": ("task_accuracy", {"size": 200, "letters": 40, "deepest": 2, "epochs": 1, "longest_output": 3}),
    "bias": (
        "hierarchical_or_linear",
        {"updates": 3, "warm_up": 1, "description_length": False, "longest_output": 3},
    ),
}
