"""The engine that trains PyTorch modules, one after the other."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from humboldt.checkpoints import Checkpoints
from humboldt.environment import environment
from humboldt.events import AbstractSink
from humboldt.outside_models import modules
from humboldt.training.base import (
    AbstractEngine,
    AbstractPredictor,
    AbstractTrained,
    Arrays,
    Job,
    Memory,
    engines,
)
from humboldt.training.checks import AbstractTrial
from humboldt.training.idle_gpu import tell_of_idle_gpu
from humboldt.training.spans import outcome

if TYPE_CHECKING:
    from humboldt.training.pytorch.calling import Caller
    from humboldt.training.pytorch.train import TrainedModules, Training

SAMPLE_STEPS = 5  # of training, for an estimate


class TorchEngine(AbstractEngine):
    """Members take turns: most layers of PyTorch cannot train several networks as one."""

    models = modules

    def train(self, job: Job, checkpoints: Checkpoints, sink: AbstractSink) -> "TorchTrained":
        from humboldt.training.pytorch.predictor import ModulePredictor

        training, look = _training(job), job.milestone
        if training.caller.device.type == "cpu":
            tell_of_idle_gpu("PyTorch", sink)

        def milestone(step: int, modules: list[Any]) -> Any:
            assert look is not None
            return look(step, ModulePredictor(modules, training.caller))

        trained = training.train(checkpoints, sink, milestone if look else None)
        return TorchTrained(trained, ModulePredictor(trained.modules, training.caller))

    def restore(self, job: Job, weights: Sequence[Arrays]) -> AbstractPredictor:
        from humboldt.training.pytorch.predictor import ModulePredictor
        from humboldt.training.pytorch.train import load_weights

        training = _training(job)
        found = [training.fresh(member).module for member in job.members]
        for module, arrays in zip(found, weights, strict=True):
            load_weights(module, dict(arrays))
        return ModulePredictor(found, training.caller)

    def takes_turns(self) -> bool:
        return True

    def sample(self, job: Job) -> tuple[AbstractPredictor, float]:
        from humboldt.training.pytorch.predictor import ModulePredictor

        training, steps = _training(job), job.recipe.steps

        def mean_size(numbers: range) -> float:
            return float(np.mean([job.problem.batch(i).tokens.size for i in numbers]))

        timed = min(SAMPLE_STEPS, steps)
        seconds = training.seconds_per_step(timed) / mean_size(range(timed))
        seconds *= mean_size(range(0, steps, max(1, steps // 8))) * steps * len(job.members)
        fresh = [training.fresh(member).module for member in job.members]
        return ModulePredictor(fresh, training.caller), seconds

    def trial(self, job: Job) -> AbstractTrial:
        from humboldt.training.pytorch.train import Trial

        training = _training(job)
        return Trial(training.fresh(job.members[0]).module, training)

    def parameters(self, job: Job) -> int:
        return self.trial(job).parameters()

    def memory(self, job: Job) -> Memory:
        kept = 2 if job.recipe.optimiser == "sgd" else 4  # weights and gradient; two moments of Adam
        return Memory(0, 4 * kept * self.parameters(job), _available(_training(job).caller))

    def environment(self) -> dict[str, str]:
        import torch

        device = torch.cuda.get_device_name() if torch.cuda.is_available() else ""
        described = environment(uses_jax=False) | {"torch": torch.__version__}
        return described | ({"device": f"cuda: {device}"} if device else {})


class TorchTrained(AbstractTrained):
    """Trained modules."""

    def __init__(self, trained: "TrainedModules", predictor: AbstractPredictor) -> None:
        self.predictor = predictor
        self.milestones = trained.milestones
        self.outcomes = tuple(outcome(trained, member) for member in range(predictor.num_members))
        self._trained = trained

    def weights(self, member: int) -> dict[str, np.ndarray]:
        from humboldt.training.pytorch.train import as_array

        return {name: as_array(x) for name, x in self._trained.modules[member].state_dict().items()}


def _training(job: Job) -> "Training":
    """The members of a job, ready to train."""
    from humboldt.training.pytorch.calling import Caller
    from humboldt.training.pytorch.train import Training

    model, problem = job.model, job.problem
    caller = Caller(model.title, problem, model.on_device())

    def make() -> Any:
        return model.make(problem.input_size, problem.output_size, num_symbols=problem.num_symbols)

    return Training(make, job.members, job.recipe, caller, compiled=model.compile)


def _available(caller: "Caller") -> int:
    """Bytes of the accelerator, or of the machine."""
    import torch

    if caller.device.type == "cuda":
        return torch.cuda.get_device_properties(caller.device).total_memory
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


engines.register("torch", version=1)(TorchEngine())
