"""Folders with kept members that nobody has trained: what is asked of them does not depend on that."""

from pathlib import Path
from typing import Any

import equinox as eqx
import jax

import humboldt
from humboldt.core.results import ScoredMember, State, TrainedMember
from humboldt.mdl import published_networks
from humboldt.running.study import Study
from humboldt.storage import checkpoints
from humboldt.storage.store import Store, weights_path
from humboldt.suites import resolving
from humboldt.suites.base import AbstractSuite
from humboldt.suites.experiments import Experiment
from humboldt.training.engines.jax import build
from humboldt.training.engines.search import SearchPredictor, SearchTrained, corpus_trie
from humboldt.training.ensemble.named import to_named


def fill(folder: Path, suite: str, task: str, model: str, settings: dict[str, Any], *, seeds: int = 1) -> Study:
    """Rows and weights of every member that a request means; member number `i` has the score `i`."""
    options = {"preset": "paper", "settings": settings, "out": folder}
    study = humboldt.plan(suite, tasks=task, models=model, seeds=seeds, **options)
    for experiment in study.experiments:
        _fill(study.suite, experiment, folder)
    return study


def _fill(suite: AbstractSuite, experiment: Experiment, folder: Path) -> None:
    job = suite.job(resolving.resolved(experiment), experiment.members)
    for number, member in enumerate(experiment.members):
        if experiment.training.engine == "search":
            network = published_networks()["dyck_1"]
            found = SearchTrained(SearchPredictor([network], corpus_trie(job.problem), job), ())
            weights = found.weights(0)
        else:
            weights = to_named(eqx.filter(build(job, jax.random.key(number)), eqx.is_inexact_array))
        about = {"training": experiment.training.key, "member": dict(member)}
        checkpoints.write(weights_path(folder, experiment.training, member), weights, about)
        scored = ScoredMember(member, State.FINISHED, {suite.headline: float(number)})
        trained = TrainedMember(member, State.FINISHED)
        evaluations = [(experiment.evaluations[0], [scored])]
        Store(folder).add(experiment.training, [trained], evaluations, format=suite.format)
