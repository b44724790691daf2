"""The engine that trains all members as one compiled JAX program."""

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from humboldt.checkpoints import Checkpoints
from humboldt.environment import environment
from humboldt.events import AbstractSink
from humboldt.models import models
from humboldt.training.base import (
    AbstractEngine,
    AbstractPredictor,
    AbstractTrained,
    Arrays,
    Job,
    Memory,
    engines,
)
from humboldt.training.idle_gpu import tell_of_idle_gpu
from humboldt.training.spans import outcome

if TYPE_CHECKING:
    from humboldt.training.checks import AbstractTrial
    from humboldt.training.ensemble.predictor import EnsemblePredictor
    from humboldt.training.ensemble.train import Ensemble, Pace, TrainedEnsemble

BYTES_OF_SYMBOL = 10  # token and target of four bytes, two masks of one
SAMPLE_STEPS = 10  # of training, for an estimate


class JaxEngine(AbstractEngine):
    """Members are one more axis of every array, or take turns on a CPU."""

    models = models

    def __init__(self) -> None:
        self._paces: dict[Any, Pace] = {}  # so that similar jobs are measured once

    def train(self, job: Job, checkpoints: Checkpoints, sink: AbstractSink) -> "JaxTrained":
        from humboldt.training.ensemble.predictor import products

        if self.takes_turns():
            tell_of_idle_gpu("JAX", sink)
        ensemble = make_ensemble(job)
        look = job.milestone

        def milestone(step: int, weights: Any) -> Any:
            assert look is not None
            return look(step, predictor_of(job, weights, ensemble.static))

        with products(job.recipe.exact_products):
            trained = ensemble.train(checkpoints, sink, milestone if look else None)
        return JaxTrained(trained, predictor_of(job, trained.weights, trained.static))

    def restore(self, job: Job, weights: Sequence[Arrays]) -> AbstractPredictor:
        import equinox as eqx
        import jax
        import jax.numpy as jnp

        from humboldt.training.ensemble.named import from_named

        like, static = eqx.partition(build(job, jax.random.key(0)), eqx.is_inexact_array)
        trees = [from_named(arrays, like) for arrays in weights]
        return predictor_of(job, jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees), static)

    def sample(self, job: Job) -> tuple[AbstractPredictor, float]:
        from humboldt.training.ensemble.predictor import products

        ensemble, key = make_ensemble(job), _kind(job)
        if key not in self._paces:
            with products(job.recipe.exact_products):
                self._paces[key] = ensemble.pace(min(SAMPLE_STEPS, job.recipe.steps))
        predictor = predictor_of(job, ensemble.stand_ins().weights, ensemble.static)
        seconds = self.known_seconds(job)
        assert seconds is not None
        return predictor.take(range(len(job.members))), seconds

    def takes_turns(self) -> bool:
        import jax

        return jax.default_backend() == "cpu"

    def known_seconds(self, job: Job, times: float = 1.0) -> float | None:
        steps, pace = job.recipe.steps, self._paces.get(_kind(job))
        if pace is None:
            return None
        tokens = [job.problem.batch(i).tokens.size for i in range(0, steps, max(1, steps // 8))]
        if job.problem.has_own_examples:
            tokens = [size / len(job.members) for size in tokens]
        return pace.compilation + pace.token * float(np.mean(tokens)) * steps * times

    def trial(self, job: Job) -> "AbstractTrial":
        from humboldt.training.ensemble.trial import Trial

        return Trial(make_ensemble(replace(job, members=job.members[:1])))

    def parameters(self, job: Job) -> int:
        from humboldt.training.ensemble.members import outline

        return outline(lambda key: build(job, key))[1]

    def memory(self, job: Job) -> Memory:
        from humboldt.training.ensemble.train import SPAN_STEPS

        numbers = self.parameters(job)
        kept = 2 if job.recipe.optimiser == "sgd" else 4  # weights and gradient; two moments of Adam
        symbols = job.problem.batch_size * job.problem.longest * min(SPAN_STEPS, job.recipe.steps)
        return Memory(BYTES_OF_SYMBOL * symbols, 4 * kept * numbers, _available())

    def environment(self) -> dict[str, str]:
        return environment()


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
    """Jobs that take as long for a token. Tasks differ in their alphabets, which hardly matters."""
    rows = job.problem.batch(0).tokens.shape[-2]
    return job.model, job.recipe.optimiser, job.recipe.precision, len(job.members), rows


def _available() -> int:
    """Bytes of the accelerator, or of the machine."""
    import jax

    device = jax.devices()[0]
    stats = device.memory_stats() if device.platform != "cpu" else None
    return stats["bytes_limit"] if stats else os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def build(job: Job, key: Any) -> Any:
    """One network of the job, freshly initialised."""
    problem = job.problem
    return job.model.build(problem.input_size, problem.output_size, num_symbols=problem.num_symbols, key=key)


def predictor_of(job: Job, weights: Any, static: Any) -> "EnsemblePredictor":
    """Members of a job, as networks that can be asked."""
    from humboldt.training.ensemble.predictor import EnsemblePredictor

    return EnsemblePredictor(weights, static, job.problem, exact_products=job.recipe.exact_products)


def make_ensemble(job: Job) -> "Ensemble":
    """The members of a job, ready to train."""
    from humboldt.training.ensemble.train import Ensemble

    return Ensemble(lambda key: build(job, key), job.members, job.recipe, job.problem)


engines.register("jax", version=1)(JaxEngine())
