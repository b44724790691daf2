"""Estimates how long experiments take on this machine.

`rough` uses the times of earlier experiments of the same kind. `measured` trains a few steps and scores a few strings
of each experiment, for `humboldt plan`. Both store times in the user's cache folder, by machine and versions.
"""

import os
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from humboldt.core.environment import package_versions
from humboldt.core.identity import Member, short_hash
from humboldt.errors import named_extras
from humboldt.running.execution import ExperimentOutcome
from humboldt.storage.cache import Cache
from humboldt.suites import catalogue
from humboldt.suites.base import AbstractSuite
from humboldt.suites.experiments import Experiment
from humboldt.suites.resolving import resolved

MOST_REMEMBERED = 20_000  # experiments; the oldest are dropped first
MEASURING_SECONDS = 30.0  # after which nothing more is measured
MOST_MEASURED = 12  # members that run in turn; the time of more is extrapolated
_CACHE = Cache("estimates", MOST_REMEMBERED)
AMOUNTS = ("steps", "updates", "epochs", "generations")  # settings to which the time of a training is proportional


def rough(experiments: Sequence[Experiment]) -> list[float | None]:
    """Returns the seconds of each experiment by earlier runs; `None` if no similar one has run."""
    remembered = _CACHE.read()
    seconds: list[float | None] = []
    for experiment in experiments:
        exact, kind = remembered.get(_key(experiment)), remembered.get(_kind(experiment))
        if exact is None and kind is not None and not experiment.score_only:
            exact = kind * _units(experiment)
        seconds.append(exact)
    return seconds


def remember(outcome: ExperimentOutcome) -> None:
    """Stores the time that an experiment took."""
    experiment = outcome.experiment
    if outcome.error is not None or not outcome.trained:
        return
    per_unit = outcome.seconds / _units(experiment)
    _CACHE.write({_key(experiment): outcome.seconds, _kind(experiment): per_unit})


@dataclass(frozen=True)
class Estimate:
    """The seconds of an experiment: measured, or extrapolated from those of others."""

    seconds: float
    is_measured: bool = True


def measured(
    suite: AbstractSuite, experiments: Sequence[Experiment], limit: float = MEASURING_SECONDS
) -> Iterator[Estimate]:
    """Yields the time of each experiment, including compilation and scoring.

    Experiments are measured in their order for half of `limit` seconds, then one of each other model for the rest of
    it. The times of all others are extrapolated from those of the same model or, if there are none, of all models.
    """
    remembered, begin = _CACHE.read(), time.monotonic()
    rates: dict[str, list[float]] = {}

    def spent() -> float:
        return time.monotonic() - begin

    def measure(experiment: Experiment) -> float:
        key = _key(experiment)
        if key not in remembered:
            remembered[key] = _measure(suite, experiment)
            _CACHE.write({key: remembered[key]})
        rates.setdefault(experiment.training.model, []).append(remembered[key] / _units(experiment))
        return remembered[key]

    for experiment in experiments:
        if _key(experiment) in remembered or spent() <= limit / 2 or not rates:
            yield Estimate(measure(experiment))
            continue
        for other in experiments:
            if other.training.model not in rates and spent() <= limit:
                measure(other)
        everything = [rate for of_model in rates.values() for rate in of_model]
        rate = float(np.mean(rates.get(experiment.training.model, everything)))
        yield Estimate(rate * _units(experiment), is_measured=False)


def _measure(suite: AbstractSuite, experiment: Experiment) -> float:
    objects = resolved(experiment)
    engine, members = catalogue.engine_of(objects.contender), experiment.members
    with named_extras():
        members = _spread(members, MOST_MEASURED) if engine.takes_turns() else members
        times = len(experiment.members) / len(members)
        job = suite.job(objects, members)
        predictor, training = engine.sample(job)
    seconds = 0.0 if experiment.score_only else training * times
    for evaluation in experiment.evaluations:
        probe = suite.probe(objects, evaluation)
        if probe is not None:
            first, second = (_timed(lambda probe=probe: probe.run(predictor)) for _ in range(2))
            seconds += max(0.0, first - second) + second * probe.times * times
    return seconds


def _spread(members: Sequence[Member], most: int) -> tuple[Member, ...]:
    """Returns at most `most` members, spread evenly: neighbours may be alike, as the blocks of a code are."""
    places = np.unique(np.linspace(0, len(members) - 1, most).round().astype(int))
    return tuple(members[i] for i in places)


def _timed(work: Callable[[], Any]) -> float:
    begin = time.monotonic()
    work()
    return time.monotonic() - begin


def _key(experiment: Experiment) -> str:
    """Returns the cache key of an experiment on this machine."""
    evaluations = [evaluation.key_for(experiment.training) for evaluation in experiment.evaluations]
    return short_hash([_machine(), experiment.id, experiment.score_only, evaluations], 24)


def _kind(experiment: Experiment) -> str:
    """Returns the cache key of experiments that differ only in training time and members."""
    training = experiment.training
    flat = {key: value for key, value in training.flat.items() if key not in AMOUNTS}
    return short_hash(
        [_machine(), training.suite, training.task, training.model, flat, len(experiment.evaluations)], 24
    )


def _amount(experiment: Experiment) -> float:
    """Returns the training time of one member in units of its protocol (steps, epochs, ...)."""
    flat = experiment.training.flat
    return float(next((flat[name] for name in AMOUNTS if flat.get(name)), 1))


def _units(experiment: Experiment) -> float:
    """Returns the number to which the time of an experiment is roughly proportional."""
    return _amount(experiment) * len(experiment.members)


def _machine() -> list[Any]:
    """Returns the properties of machine and installation that affect times. Does not load JAX."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    devices = {name: os.environ.get(name, "") for name in ("JAX_PLATFORMS", "CUDA_VISIBLE_DEVICES", "XLA_FLAGS")}
    return [platform.node(), platform.machine(), cores, devices, package_versions()]
