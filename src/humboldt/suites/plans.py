"""Turns a request into experiments: presets, sweeps and members. Suites do not override these functions; they differ
only in the facts and hooks of `humboldt.suites.base.AbstractSuite`.
"""

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from humboldt import settings
from humboldt.core.identity import Member, canonical
from humboldt.errors import UsageError, unknown_name
from humboldt.languages import tasks as registered_tasks
from humboldt.models.forms import check_fits
from humboldt.settings import Role
from humboldt.suites import catalogue
from humboldt.suites.catalogue import OUTSIDE, PAPER
from humboldt.suites.experiments import Experiment, Preset, Request, Resolved
from humboldt.suites.resolving import make_training

if TYPE_CHECKING:
    from humboldt.suites.base import AbstractSuite


def plan(suite: "AbstractSuite", request: Request) -> list[Experiment]:
    """Returns the experiments of a request. Raises `UsageError` on any wrong name or value."""
    trained_on = tuple(dict.fromkeys(map(suite.trained_task, request.tasks)))
    request = dataclasses.replace(request, tasks=trained_on)
    preset = catalogue.preset(suite, request.preset)
    cells = pairs(suite, request)
    classes = dict.fromkeys(cls for cell in cells for cls in catalogue.settings_classes(suite, *cell))
    settings.check_known(request.settings, classes)
    changes = dict(request.settings)
    if request.seeds is not None:
        if "seeds" in changes:
            raise UsageError(f"seeds={changes['seeds']} and --seeds {request.seeds} were both given. Give one.")
        changes["seeds"] = request.seeds
    experiments = []
    for task, model in cells:
        planned = list(trainings(suite, task, model, preset, {**changes, **request.of_models.get(model, {})}))
        several = _differing([resolved.training.flat for resolved in planned])
        for resolved in planned:
            suite.check_plan(resolved)
            check_fits(resolved.model, suite.kind, partial(suite.most_tokens, resolved))
            evaluations = tuple(suite.evaluations(resolved.protocol, task))
            distinct = {key: resolved.training.flat[key] for key in several}
            for members in suite.groups(resolved, suite.members(resolved)):
                experiments.append(
                    Experiment(
                        training=resolved.training,
                        members=tuple(members),
                        evaluations=evaluations,
                        work=suite.work(resolved),
                        distinct=distinct,
                        resolved=resolved,
                    )
                )
    return experiments


def pairs(suite: "AbstractSuite", request: Request) -> list[tuple[str, str]]:
    """Returns the pairs of task and model of a request."""
    preset = catalogue.preset(suite, request.preset)
    if not request.tasks and not request.models and preset.cells is not None:
        return list(preset.cells)
    for model in request.models:
        catalogue.contender(suite, model)  # raises an error with the reason if it does not fit
    tasks = catalogue.in_order("task", request.tasks, catalogue.tasks(suite))
    models = catalogue.in_order("model", request.models, catalogue.models(suite))
    return list(
        itertools.product(tasks or preset.tasks or suite.printed_tasks, models or preset.models or suite.contenders)
    )


def trainings(
    suite: "AbstractSuite", task: str, model: str, preset: Preset, changes: Mapping[str, Any]
) -> Iterator[Resolved]:
    """Yields the trainings of one cell. Their protocols have all values, also those for members and evaluations."""
    contender = catalogue.contender(suite, model)
    fixed = {**contender.changes, **_preset_changes(suite, preset, task, model), **changes}
    papers = suite.sweep(task, contender)
    values = papers if preset.sweeps is None else preset.sweeps
    sweep = {key: values[key] for key in papers if key in values and key not in fixed}
    sweep |= {key: values for key, values in preset.varied.items() if key not in fixed}
    for combination in itertools.product(*sweep.values()):
        swept = {**fixed, **dict(zip(sweep, combination, strict=True))}
        whole = settings.changed(suite.protocol(), swept)
        each = itertools.product(_each(whole), _each_of_task(registered_tasks.get(f"{suite.name}/{task}"), swept))
        for protocol, of_task in each:
            resolved = make_training(suite, task, model, protocol, of_task)
            if not (sweep and suite.is_repetition(resolved, sweep)):
                yield resolved


def outside_trainings(
    suite: "AbstractSuite", task: str, name: str, preset: str, changes: Mapping[str, Any]
) -> list[Resolved]:
    """Returns the trainings as which a model from outside Humboldt can be scored.

    Raises on settings that only describe how Humboldt's models are trained.
    """
    catalogue.check_task(suite, task)
    known = [f for f in settings.fields(suite.protocol) if f.of_data or f.role is Role.EVALUATION]
    known += settings.fields(registered_tasks.get(f"{suite.name}/{task}"))
    names = {f.name for f in known} | set(suite.sweep(task, catalogue.contender(suite, f"{OUTSIDE}/{name}")))
    for key in changes:
        if key not in names:
            about = (
                "describes how our own models are trained" if key in settings.names(suite.protocol) else "is unknown"
            )
            hint = f"{key} {about}; the data and the tests have: {', '.join(sorted(names))}."
            raise unknown_name("setting of data or tests", key, names, hint=hint)
    return list(trainings(suite, task, f"{OUTSIDE}/{name}", catalogue.preset(suite, preset), changes))


@cache
def paper_members(suite: "AbstractSuite", task: str, model: str) -> list[Member]:
    """Returns the paper's members of a cell, over all its sweeps."""
    return preset_members(suite, task, model, PAPER)


@cache
def preset_members(suite: "AbstractSuite", task: str, model: str, preset: str) -> list[Member]:
    """Returns the members of a cell under a preset, over all its sweeps."""
    planned = trainings(suite, task, model, catalogue.preset(suite, preset), {})
    members = [member for resolved in planned for member in suite.members(resolved)]
    return list({canonical(member): member for member in members}.values())


@cache
def expected(suite: "AbstractSuite", task: str, model: str, preset: str, evaluation: str) -> tuple[dict[str, Any], ...]:
    """Returns the flat settings of each training of a cell, and of one evaluation of it, under a preset."""
    return tuple(
        {**resolved.training.flat, **candidate.setting}
        for resolved in trainings(suite, task, model, catalogue.preset(suite, preset), {})
        for candidate in suite.evaluations(resolved.protocol, task)
        if candidate.name == evaluation
    )


def _preset_changes(suite: "AbstractSuite", preset: Preset, task: str, model: str) -> dict[str, Any]:
    """Returns the changes of a preset for a cell. Presets resize only the paper's models; other models keep their
    sizes."""
    changes = preset.changes_for(task, model)
    known = {*settings.names(suite.protocol), *settings.names(registered_tasks.get(f"{suite.name}/{task}"))}
    known |= set(preset.of_models.get(model, ()))
    return {key: value for key, value in changes.items() if model in suite.contenders or key in known}


def _each(protocol: Any) -> Iterator[Any]:
    """Yields a protocol for each combination of values of the settings with role `EACH`."""
    names = [f.name for f in settings.fields(type(protocol)) if f.role is Role.EACH]
    for values in itertools.product(*(getattr(protocol, name) for name in names)):
        yield dataclasses.replace(protocol, **{name: (value,) for name, value in zip(names, values, strict=True)})


def _each_of_task(task: type, changes: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields the changes for each combination of values of the task's settings with role `EACH`."""
    each = [f for f in settings.fields(task) if f.role is Role.EACH]
    values = [settings.typed_value(f, changes.get(f.name, f.default)) for f in each]
    for combination in itertools.product(*values):
        yield {**changes, **{f.name: (value,) for f, value in zip(each, combination, strict=True)}}


def _differing(flat: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns the keys whose values differ between the dictionaries."""
    return [key for key in (flat[0] if flat else {}) if any(each.get(key) != flat[0][key] for each in flat)]
