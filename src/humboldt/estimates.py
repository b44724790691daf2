"""How long experiments take on this machine: measured once, then remembered.

A measurement trains a few steps and scores a few strings of each kind of experiment. What it has found is kept in the
user's cache folder, by machine, versions and experiment: a resumed study, or a second command, measures nothing.
"""

import json
import os
import platform
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from humboldt import settings
from humboldt.environment import package_versions
from humboldt.errors import named_extras
from humboldt.identity import Member, short_hash
from humboldt.suites.base import AbstractSuite
from humboldt.suites.experiments import Experiment, Parts, Probe
from humboldt.training.base import AbstractEngine, Job

LONG_PROBE = 5.0  # seconds of training on as many tokens, above which less is asked
MOST_REMEMBERED = 20_000  # experiments; the oldest go first
MOST_MEASURED = 12  # members, where these take turns: more take as many times longer


def estimate(suite: AbstractSuite, experiments: Sequence[Experiment]) -> Iterator[float]:
    """Seconds that each will take, compilation and scoring included."""
    remembered, kinds = _read(), dict[Any, _Kind]()
    machine = _machine()
    for experiment in experiments:
        key = short_hash([machine, experiment.id, experiment.kept, _evaluation_keys(experiment)], 24)
        if key not in remembered:
            remembered[key] = _measured(suite, experiment, kinds)
            _write({key: remembered[key]})
        yield remembered[key]


class _Kind:
    """What experiments with the same network and as many members have in common."""

    def __init__(self) -> None:
        self.asking: dict[str, tuple[float, float]] = {}  # by evaluation: to compile, and for a unit of a probe


def _measured(suite: AbstractSuite, experiment: Experiment, kinds: dict[Any, _Kind]) -> float:
    parts = suite.restore(experiment.training, experiment.evaluations[0])
    engine, members = suite.engine(parts.contender), experiment.members
    with named_extras():
        members = _spread(members, MOST_MEASURED) if engine.takes_turns() else members
    times = len(experiment.members) / len(members)
    job = suite.job(parts, members)
    probes = {
        evaluation.name: suite.probe(suite.restore(experiment.training, evaluation), evaluation)
        for evaluation in experiment.evaluations
    }
    key = _kind_of(experiment, parts)
    training = engine.known_seconds(job, times)
    is_known = training is not None and key in kinds
    is_known = is_known and all(probe.units and name in kinds[key].asking for name, probe in probes.items())
    kind = kinds[key] if is_known else kinds.setdefault(key, _Kind())
    if not is_known:
        sampled = _measure(kind, engine, job, probes)
        training = engine.known_seconds(job, times)
        training = sampled * times if training is None else training
    assert training is not None
    seconds = 0.0 if experiment.kept else training
    for name, probe in probes.items():
        compiling, unit = kind.asking[name]
        seconds += compiling + unit * (probe.units or 1.0) * probe.times * times
    return seconds


def _spread(members: Sequence[Member], most: int) -> tuple[Member, ...]:
    """At most so many of them, from the first to the last: neighbours may be alike, as the steps of a code are."""
    places = np.unique(np.linspace(0, len(members) - 1, most).round().astype(int))
    return tuple(members[i] for i in places)


def _measure(kind: _Kind, engine: AbstractEngine, job: Job, probes: dict[str, Probe]) -> float:
    with named_extras():
        predictor, training = engine.sample(job)
    for name, whole in probes.items():
        kind.asking[name] = (0.0, 0.0)
        probe = whole.small if whole.small is not None and _takes_long(whole, job, training) else whole
        if probe.times:
            _, first = _timed(lambda probe=probe: probe.run(predictor))
            _, second = _timed(lambda probe=probe: probe.run(predictor))
            kind.asking[name] = (max(0.0, first - second), second / (probe.units or 1.0))
    return training


def _takes_long(probe: Probe, job: Job, training: float) -> bool:
    """By what a token costs in training."""
    tokens = job.recipe.steps * job.problem.batch(0).tokens.size
    return (probe.units or 0.0) * training / tokens > LONG_PROBE


def _kind_of(experiment: Experiment, parts: Parts) -> Any:
    training = experiment.training
    model = json.dumps(settings.as_json(parts.model), sort_keys=True) if settings.fields(type(parts.model)) else ""
    return training.engine, training.model, model, len(experiment.members), training.setting.get("precision")


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    begin = time.monotonic()
    return work(), time.monotonic() - begin


def _evaluation_keys(experiment: Experiment) -> list[str]:
    return [evaluation.key_for(experiment.training) for evaluation in experiment.evaluations]


def _machine() -> list[Any]:
    """What changes how long things take. JAX is not loaded for this."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    chosen = {name: os.environ.get(name, "") for name in ("JAX_PLATFORMS", "CUDA_VISIBLE_DEVICES", "XLA_FLAGS")}
    return [platform.node(), platform.machine(), cores, chosen, package_versions()]


def _path() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "humboldt" / "estimates.json"


def _read() -> dict[str, float]:
    try:
        found = json.loads(_path().read_text())
        return {str(key): float(value) for key, value in found.items()}
    except (OSError, ValueError, AttributeError, TypeError, RuntimeError):  # none yet, damaged, or no home: measured
        return {}


def _write(new: dict[str, float]) -> None:
    """What cannot be remembered is measured again."""
    with suppress(OSError, RuntimeError):
        path, known = _path(), {**_read(), **new}
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")
        temporary.write_text(json.dumps(dict(list(known.items())[-MOST_REMEMBERED:])))
        temporary.replace(path)
