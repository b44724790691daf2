"""The engine that trains all members as one compiled JAX program."""

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from humboldt.core.environment import environment
from humboldt.core.events import AbstractSink
from humboldt.models import models
from humboldt.models.forms import build_network
from humboldt.storage.checkpoints import Checkpoints
from humboldt.training.abilities import (
    CountsRight,
    GivesProbabilities,
    HasNetwork,
    ReadsSymbols,
    SearchesOutputs,
    WritesOutputs,
)
from humboldt.training.base import (
    AbstractEngine,
    AbstractPredictor,
    AbstractTrained,
    Arrays,
    Job,
    MemoryEstimate,
    engines,
)
from humboldt.training.checks import AbstractTrial, try_out
from humboldt.training.idle_gpu import warn_of_idle_gpu
from humboldt.training.spans import outcome

if TYPE_CHECKING:
    from humboldt.training.ensemble.predictor import Arithmetic, EnsemblePredictor
    from humboldt.training.ensemble.train import Ensemble, Pace, TrainedEnsemble

BYTES_OF_SYMBOL = 10  # token and target of four bytes each, two masks of one byte each
SAMPLE_STEPS = 10  # steps of training, for an estimate


class JaxEngine(AbstractEngine):
    """Trains all members as one more axis of every array; on a CPU, one after the other."""

    models = models
    has_roads = True
    abilities = frozenset({CountsRight, GivesProbabilities, WritesOutputs, SearchesOutputs, ReadsSymbols, HasNetwork})

    def __init__(self) -> None:
        self._paces: dict[Any, Pace] = {}  # so that similar jobs are measured once
        self._tried: set[Any] = set()  # models from outside, and their kinds of problem

    def train(self, job: Job, checkpoints: Checkpoints, sink: AbstractSink) -> "JaxTrained":
        from humboldt.training.ensemble.programs import forget_programs

        forget_programs()
        if self.takes_turns():
            warn_of_idle_gpu("JAX", sink)
        self._try_out(job, sink)
        ensemble = make_ensemble(job)
        look = job.milestone

        def milestone(step: int, weights: Any) -> Any:
            assert look is not None
            return look(step, predictor_of(job, weights, ensemble.static))

        with arithmetic_of(job).used():
            trained = ensemble.train(checkpoints, sink, milestone if look else None)
        return JaxTrained(trained, predictor_of(job, trained.weights, trained.static))

    def _try_out(self, job: Job, sink: AbstractSink) -> None:
        """Checks a network from outside before it is trained, once for each kind of problem."""
        cls = type(job.model)
        if cls.__module__.startswith("humboldt.") or (cls, job.problem.kind) in self._tried:
            return
        try_out(getattr(cls, "title", cls.__name__), self.trial(job), sink)
        self._tried.add((cls, job.problem.kind))

    def restore(self, job: Job, weights: Sequence[Arrays]) -> AbstractPredictor:
        import equinox as eqx
        import jax
        import jax.numpy as jnp

        from humboldt.training.ensemble.named import from_named

        like, static = eqx.partition(build(job, jax.random.key(0)), eqx.is_inexact_array)
        trees = [from_named(arrays, like) for arrays in weights]
        return predictor_of(job, jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees), static)

    def sample(self, job: Job) -> tuple[AbstractPredictor, float]:
        ensemble, key = make_ensemble(job), _kind(job)
        if key not in self._paces:
            with arithmetic_of(job).used():
                self._paces[key] = ensemble.pace(min(SAMPLE_STEPS, job.recipe.steps))
        predictor = predictor_of(job, ensemble.stand_ins().weights, ensemble.static)
        return predictor.take(range(len(job.members))), self._seconds(job, self._paces[key])

    def takes_turns(self) -> bool:
        import jax

        return jax.default_backend() == "cpu"

    def _seconds(self, job: Job, pace: "Pace") -> float:
        """Returns the seconds of a training, given the times of compilation and of one token."""
        steps = job.recipe.steps
        tokens = [job.problem.batch(i).tokens.size for i in range(0, steps, max(1, steps // 8))]
        if job.problem.has_own_examples:
            tokens = [size / len(job.members) for size in tokens]
        return pace.compilation + pace.token * float(np.mean(tokens)) * steps

    def trial(self, job: Job) -> AbstractTrial:
        from humboldt.training.ensemble.trial import Trial

        return Trial(make_ensemble(replace(job, members=job.members[:1])))

    def parameters(self, job: Job) -> int:
        from humboldt.training.ensemble.members import outline

        return outline(lambda key: build(job, key))[1]

    def memory(self, job: Job) -> MemoryEstimate:
        from humboldt.training.spans import SPAN_STEPS

        numbers = self.parameters(job)
        kept = 2 if job.recipe.optimiser == "sgd" else 4  # weights and gradient; two moments of Adam
        symbols = job.problem.batch_size * job.problem.longest * min(SPAN_STEPS, job.recipe.steps)
        return MemoryEstimate(BYTES_OF_SYMBOL * symbols, 4 * kept * numbers, _available())

    def environment(self) -> dict[str, str]:
        return environment()

    def environment_of(self, job: Job) -> dict[str, str]:
        return self.environment() | {what: " and ".join(roads) for what, roads in self._roads(job).items()}

    def road(self, job: Job) -> str | None:
        name = getattr(type(job.model), "title", type(job.model).__name__)
        said = [f"{name}: {_sentence(what, roads)}" for what, roads in self._roads(job).items()]
        return " ".join(said) or None

    def _roads(self, job: Job) -> dict[str, dict[str, list[str]]]:
        """Returns how the loops over time and the attention of a job run in training, each with the reasons; empty on a
        machine without kernels."""
        from humboldt.models.loop.fused.choice import device_fault
        from humboldt.training.ensemble.loops import roads_of

        if device_fault():
            return {}
        with arithmetic_of(job).used():
            return roads_of(make_ensemble(job))


WORDS = {  # what runs as one kernel, and what it is otherwise
    "loop": ("the loop over time", "a scan", "for some lengths it"),
    "attention": ("attention", "plain products", "some of it"),
}


def _sentence(what: str, roads: dict[str, list[str]]) -> str:
    """Returns a sentence about what runs as one kernel."""
    subject, otherwise, some = WORDS[what]
    reasons = " and ".join(reason for road, found in roads.items() if road != "fused" for reason in found)
    if not reasons:
        return f"{subject} runs as one kernel."
    if "fused" not in roads:
        return f"{subject} is {otherwise}: {reasons}."
    return f"{subject} runs as one kernel, but {some} is {otherwise}: {reasons}."


class JaxTrained(AbstractTrained):
    """A trained ensemble."""

    def __init__(self, trained: "TrainedEnsemble", predictor: AbstractPredictor) -> None:
        self.predictor = predictor
        self.milestones = trained.milestones
        self.outcomes = tuple(outcome(trained, member) for member in range(predictor.num_members))
        self._trained = trained

    def weights(self, member: int) -> dict[str, np.ndarray]:
        import jax

        from humboldt.training.ensemble.named import to_named

        return to_named(jax.tree.map(lambda x: x[member], self._trained.weights))


def _kind(job: Job) -> Any:
    """Returns a key that is equal for jobs with the same time per token. It ignores the sizes of alphabets, whose
    effect is small."""
    rows = job.problem.batch(0).tokens.shape[-2]
    return job.model, job.recipe.optimiser, job.recipe.precision, len(job.members), rows


def _available() -> int:
    """Returns the memory of the accelerator, or of the machine, in bytes."""
    import jax

    device = jax.devices()[0]
    stats = device.memory_stats() if device.platform != "cpu" else None
    return stats["bytes_limit"] if stats else os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def build(job: Job, key: Any) -> Any:
    """Returns one network of the job, freshly initialised."""
    problem, heads = job.problem, job.recipe.heads
    network = build_network(
        job.model,
        problem.kind,
        problem.input_size,
        problem.output_size if heads is None else heads.outputs,
        num_symbols=problem.num_symbols,
        start=problem.start,
        key=key,
    )
    if heads is None:
        return network
    from humboldt.models.networks.heads import WithHeads

    return WithHeads(network, heads.answers)


def predictor_of(job: Job, weights: Any, static: Any) -> "EnsemblePredictor":
    """Returns a predictor of the members of a job."""
    from humboldt.training.ensemble.predictor import EnsemblePredictor

    return EnsemblePredictor(weights, static, job.problem, arithmetic_of(job))


def arithmetic_of(job: Job) -> "Arithmetic":
    """Returns how the programs of a job compute."""
    from humboldt.training.ensemble.predictor import Arithmetic

    return Arithmetic(job.recipe.exact_products, job.fused)


def make_ensemble(job: Job) -> "Ensemble":
    """Returns the members of a job, ready to train."""
    from humboldt.training.ensemble.train import Ensemble

    return Ensemble(lambda key: build(job, key), job.members, job.recipe, job.problem)


engines.register("jax", version=1)(JaxEngine())
