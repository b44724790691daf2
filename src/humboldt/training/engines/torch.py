"""The engine that trains PyTorch modules: as one, as CUDA graphs, in several processes, or one after the other."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from humboldt.core.environment import environment
from humboldt.core.events import AbstractSink
from humboldt.languages import ProblemKind
from humboldt.models.own import modules
from humboldt.storage.checkpoints import Checkpoints
from humboldt.training.abilities import CountsRight, GivesProbabilities, HasNetwork, ReadsSymbols, WritesOutputs
from humboldt.training.base import (
    AbstractEngine,
    AbstractPredictor,
    AbstractTrained,
    Arrays,
    Job,
    MemoryEstimate,
    engines,
)
from humboldt.training.checks import AbstractTrial
from humboldt.training.idle_gpu import warn_of_idle_gpu
from humboldt.training.spans import outcome

if TYPE_CHECKING:
    from humboldt.training.pytorch.calling import Caller
    from humboldt.training.pytorch.train import TrainedModules, Training

SAMPLE_STEPS = 5  # steps of training, for an estimate


class TorchEngine(AbstractEngine):
    """Trains members by the fastest road that their module allows; see `humboldt.training.pytorch.roads`."""

    models = modules
    abilities = frozenset({CountsRight, GivesProbabilities, WritesOutputs, ReadsSymbols, HasNetwork})
    has_roads = True

    def train(self, job: Job, checkpoints: Checkpoints, sink: AbstractSink) -> "TorchTrained":
        from humboldt.training.pytorch.predictor import ModulePredictor

        training, look = _training(job), job.milestone
        if training.caller.device.type == "cpu":
            warn_of_idle_gpu("PyTorch", sink)

        def predictor(modules: list[Any]) -> ModulePredictor:
            is_stacked = training.taken in ("stacked", "graphs")
            return ModulePredictor(modules, training.caller, stacked=is_stacked)

        def milestone(step: int, modules: list[Any]) -> Any:
            assert look is not None
            return look(step, predictor(modules))

        trained = training.train(checkpoints, sink, milestone if look else None)
        return TorchTrained(trained, predictor(trained.modules))

    def restore(self, job: Job, weights: Sequence[Arrays]) -> AbstractPredictor:
        from humboldt.training.pytorch.learner import load_weights
        from humboldt.training.pytorch.predictor import ModulePredictor

        training = _training(job)
        modules = [training.fresh(member).module for member in job.members]
        for module, arrays in zip(modules, weights, strict=True):
            load_weights(module, dict(arrays))
        is_accelerated = training.caller.device.type != "cpu" and job.road == "auto"
        return ModulePredictor(modules, training.caller, stacked=is_accelerated or job.road == "stacked")

    def road(self, job: Job) -> str | None:
        from humboldt.training.pytorch.roads import choose

        training = _training(job)
        choice = choose(training)
        return choice.told(training) if len(job.members) > 1 or choice.threads > 1 else None

    def takes_turns(self) -> bool:
        return True

    def sample(self, job: Job) -> tuple[AbstractPredictor, float]:
        from humboldt.training.pytorch.predictor import ModulePredictor
        from humboldt.training.pytorch.roads import choose

        training, steps = _training(job), job.recipe.steps

        def mean_size(numbers: range) -> float:
            return float(np.mean([job.problem.batch(i).tokens.size for i in numbers]))

        choice = choose(training)
        training.threads, timed = choice.threads, min(SAMPLE_STEPS, steps)
        seconds = training.seconds_per_step(timed) / mean_size(range(timed))
        seconds *= mean_size(range(0, steps, max(1, steps // 8))) * steps * len(job.members)
        fresh = [training.fresh(member).module for member in job.members]
        predictor = ModulePredictor(fresh, training.caller, stacked=choice.road == "stacked")
        return predictor, seconds / choice.gain

    def trial(self, job: Job) -> AbstractTrial:
        from humboldt.training.pytorch.train import Trial

        training = _training(job)
        return Trial(training.fresh(job.members[0]).module, training)

    def parameters(self, job: Job) -> int:
        return self.trial(job).parameters()

    def memory(self, job: Job) -> MemoryEstimate:
        kept = 2 if job.recipe.optimiser == "sgd" else 4  # weights and gradient; two moments of Adam
        return MemoryEstimate(0, 4 * kept * self.parameters(job), _available(_training(job).caller))

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
        from humboldt.training.pytorch.learner import as_array

        return {name: as_array(x) for name, x in self._trained.modules[member].state_dict().items()}


def _training(job: Job) -> "Training":
    """Returns the members of a job, ready to train."""
    from humboldt.training.pytorch.calling import Caller, takes_told
    from humboldt.training.pytorch.learner import own_random
    from humboldt.training.pytorch.train import Training

    model, problem = job.model, job.problem
    device = model.on_device()

    def make(concatenates: bool) -> Any:
        more = problem.output_size if concatenates else 0  # the ids of the target come after those of the source
        num_symbols = problem.input_size if concatenates else problem.num_symbols
        return model.make(problem.input_size + more, problem.output_size, num_symbols=num_symbols)

    concatenates = False
    if problem.kind is ProblemKind.SEQUENCE_TO_SEQUENCE:
        with own_random(device):
            concatenates = not takes_told(make(False))
    exact = job.recipe.exact_products
    caller = Caller(model.title, problem, device, concatenates=concatenates, exact_products=exact)
    return Training(
        lambda: make(concatenates),
        job.members,
        job.recipe,
        caller,
        compiled=model.compile,
        cores=job.cores,
        road=job.road,
        compile=job.compile,
    )


def _available(caller: "Caller") -> int:
    """Returns the memory of the accelerator, or of the machine, in bytes."""
    import torch

    if caller.device.type == "cuda":
        return torch.cuda.get_device_properties(caller.device).total_memory
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


engines.register("torch", version=1)(TorchEngine())
