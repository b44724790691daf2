"""Checks tasks from outside before the first training: the contract of a task, and the batches that are made of it."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from humboldt import __version__
from humboldt.core.findings import Finding, listed
from humboldt.core.identity import short_hash
from humboldt.errors import UsageError
from humboldt.languages import AbstractTask, tasks
from humboldt.languages.contract import TaskCheck, check_task
from humboldt.registry import Entry, source_hash
from humboldt.report.words import counted
from humboldt.storage.cache import Cache
from humboldt.suites.base import AbstractSuite
from humboldt.suites.experiments import Experiment
from humboldt.suites.resolving import resolved
from humboldt.training.base import AbstractProblem

STEPS = (0, 1)  # numbers of the checked batches
PASSED = Cache("checked_tasks", 2_000)
"""Tasks that passed on this machine, by hash of their source."""


def is_from_outside(task: type[AbstractTask]) -> bool:
    """Returns whether a task is neither one of Humboldt's nor made by Humboldt of the file of a language."""
    return not f"{task.__module__}.".startswith("humboldt.")


def check_experiment(suite: AbstractSuite, experiment: Experiment) -> TaskCheck:
    """Checks the task of an experiment, with its settings, and the first batches of its training."""
    objects = resolved(experiment)
    name = f"{suite.name}/{objects.training.task}"
    report = check_task(name, objects.task)
    if not report.passed:
        return report
    problem = suite.job(objects, experiment.members[:1]).problem
    return replace(report, findings=(*report.findings, batches(problem)))


def batches(problem: AbstractProblem) -> Finding:
    """Checks the first batches of a training: ids must be valid, and the same when drawn again."""
    check = "batches"
    for step in STEPS:
        batch, again = problem.batch(step), problem.batch(step)
        arrays = (batch.tokens, batch.mask, batch.targets, batch.target_mask)
        repeated = (again.tokens, again.mask, again.targets, again.target_mask)
        if not all(np.array_equal(first, second) for first, second in zip(arrays, repeated, strict=True)):
            text, advice = f"batch {step} differs when it is drawn again", "It must depend on its number alone."
            return Finding(check, False, text, advice)
        for kind, ids, size in (
            ("tokens", batch.tokens[batch.mask], problem.input_size),
            ("targets", batch.targets[batch.target_mask], problem.output_size),
        ):
            if ids.size and not 0 <= ids.min() <= ids.max() < size:
                text = f"{kind} from {ids.min()} to {ids.max()}, but there are {size} of them, 0 to {size - 1}"
                return Finding(check, False, text, "Draw ids that the problem has, or make its sizes larger.")
        if not batch.target_mask.any():
            return Finding(check, False, f"batch {step} has nothing to answer", "Mark the answers in `target_mask`.")
    return Finding(check, True, "reproducible, with ids that the problem has")


def check_before_training(suite: AbstractSuite, experiments: Iterable[Experiment]) -> None:
    """Raises a usage error with all findings if a task from outside fails a check.

    A task that has passed is not checked again as long as its source and its settings are the same.
    """
    seen = set()
    for experiment in experiments:
        entry = tasks.entry(f"{suite.name}/{experiment.training.task}")
        if experiment.score_only or not is_from_outside(entry.value):
            continue
        key = _key(entry, experiment)
        if key in seen or (key is not None and key in PASSED.read()):
            continue
        report = check_experiment(suite, experiment)
        if not report.passed:
            raise failed(report, entry)
        if key is not None:
            seen.add(key)
            PASSED.write({key: 1.0})


def failed(report: TaskCheck, entry: Entry[type[AbstractTask]]) -> UsageError:
    """Returns the error of a task that failed, with what to fix and the command that checks it again."""
    wrong = [finding for finding in report.findings if not finding.passed]
    path = Path(entry.origin)
    again = f" Then:\n  humboldt check task {path.name}:{entry.value.__name__}" if path.is_file() else ""
    return UsageError(
        f"The task {report.task} failed {counted(len(wrong), 'check')}, so nothing was trained on it.\n"
        f"{listed(wrong)}\nFix it in {entry.origin}.{again}"
    )


def _key(entry: Entry[type[AbstractTask]], experiment: Experiment) -> str | None:
    """Returns the key by which a passed check is remembered; `None` if the task has no source file."""
    if not Path(entry.origin).is_file():
        return None
    return short_hash([__version__, entry.name, source_hash(entry.origin), experiment.training.setting.get("task")])
