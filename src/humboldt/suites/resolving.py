"""Turns settings into objects and back.

A plan makes the objects of a training once and passes them on. Stores and other processes pass settings as JSON, which
`resolve` turns into objects.
"""

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from humboldt import settings
from humboldt.core.identity import Evaluation, Training
from humboldt.languages import tasks as registered_tasks
from humboldt.settings import Role
from humboldt.storage.store import Written
from humboldt.suites import catalogue, suites
from humboldt.suites.catalogue import OUTSIDE
from humboldt.suites.experiments import Experiment, Resolved

if TYPE_CHECKING:
    from humboldt.suites.base import AbstractSuite


def make_training(suite: "AbstractSuite", task: str, model: str, protocol: Any, changes: Mapping[str, Any]) -> Resolved:
    """Makes the training of a task and a model under a protocol, with `changes` to the settings of both."""
    contender = catalogue.contender(suite, model)
    follows = {
        key: value
        for (name, wanted), then in contender.follows.items()
        if getattr(protocol, name) == wanted
        for key, value in then.items()
    }
    task_class = registered_tasks.get(f"{suite.name}/{task}")
    setting = settings.as_json(protocol, [Role.TRAINING, Role.EACH])
    if contender.engine == OUTSIDE:  # how it was trained is not known
        of_data = {f.stored_name for f in settings.fields(suite.protocol) if f.of_data}
        setting = {key: value for key, value in setting.items() if key in of_data}
    each = {f.stored_name for f in settings.fields(suite.protocol) if f.role is Role.EACH}
    setting = {key: value[0] if key in each else value for key, value in setting.items()}
    network = settings.changed(catalogue.model_entry(contender).value(), {**follows, **changes})
    setting["model"] = settings.as_json(network)
    if options := settings.fields(task_class):
        of_task = {f.name: settings.typed_value(f, changes.get(f.name, f.default)) for f in options}
        of_task = {f.stored_name: of_task[f.name][0] if f.role is Role.EACH else of_task[f.name] for f in options}
        of_task = _without_later_defaults(task_class, {key: settings.plain(value) for key, value in of_task.items()})
        if of_task or not all(f.added_later for f in options):
            setting["task"] = of_task
    versions = catalogue.versions(suite, task, model)
    training = Training(suite.name, task, model, contender.engine, setting, versions)
    language = suite.make_task(task, protocol, setting.get("task", {}))
    return Resolved(training, contender, task=language, model=network, protocol=protocol)


def resolve(suite: "AbstractSuite", training: Training, evaluation: Evaluation | None = None) -> Resolved:
    """Makes the objects that stored settings describe. Raises a usage error for names that no longer exist."""
    catalogue.check_task(suite, training.task)
    contender = catalogue.contender(suite, training.model)
    of_protocol = {key: value for key, value in training.setting.items() if key not in catalogue.PARTS}
    protocol = settings.from_json(suite.protocol, {**of_protocol, **(evaluation.setting if evaluation else {})})
    return Resolved(
        training,
        contender,
        task=suite.make_task(training.task, protocol, training.setting.get("task", {})),
        model=settings.from_json(catalogue.model_entry(contender).value, training.setting["model"]),
        protocol=protocol,
    )


def resolved(experiment: Experiment) -> Resolved:
    """Returns the objects of an experiment: those of its plan or, in another process, new ones from its settings."""
    if experiment.resolved is not None:
        return experiment.resolved
    suite = suites.get(experiment.training.suite)
    first, *others = experiment.evaluations
    settings_of_all = {key: value for evaluation in (*others, first) for key, value in evaluation.setting.items()}
    return resolve(suite, experiment.training, dataclasses.replace(first, setting=settings_of_all))


def read(suite: "AbstractSuite", written: Written) -> Training:
    """Migrates a stored training to today's names, without the values that stay out of identities."""
    before, model = written.training, written.training.model
    setting = suite.upgrade(dict(before.setting), written.format, model=model)
    if not setting.get("task", True):
        del setting["task"]
    setting = _without_later_defaults(suite.protocol, setting)
    if "task" in setting and before.task in catalogue.tasks(suite):
        options = registered_tasks.get(f"{suite.name}/{before.task}")
        setting["task"] = _without_later_defaults(options, setting["task"])
        if not setting["task"] and all(f.added_later for f in settings.fields(options)):
            del setting["task"]
    if model in catalogue.models(suite):
        options = catalogue.model_entry(catalogue.contender(suite, model)).value
        setting["model"] = _without_later_defaults(options, setting["model"])
    return dataclasses.replace(before, setting=setting)


def is_current(suite: "AbstractSuite", training: Training, evaluation: Evaluation) -> bool:
    """Returns whether task, model and measure still have the versions of these results."""
    versions = catalogue.versions(suite, training.task, training.model)
    current = {each.name: each.version for each in suite.evaluations(suite.protocol(), training.task)}
    return training.versions == versions and current.get(evaluation.name) == evaluation.version


def _without_later_defaults(cls: type, setting: Mapping[str, Any]) -> dict[str, Any]:
    """Returns stored settings without defaults of settings that were added later, which are not part of identities."""
    later = {f.stored_name: settings.plain(f.default) for f in settings.fields(cls) if f.added_later}
    return {key: value for key, value in setting.items() if key not in later or value != later[key]}
