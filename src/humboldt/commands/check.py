"""`humboldt check`: checks a task or a model from outside, or examples from outside against our definitions."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from humboldt.commands.options import AsRecords, Plugins, Settings, refuse
from humboldt.errors import UsageError
from humboldt.languages import tasks
from humboldt.languages.contract import TaskCheck, check_task
from humboldt.models.own import register_reference
from humboldt.outside.model_check import ModelCheck, check_model, check_network
from humboldt.plugins import attribute_of_file, is_model, is_task, load_files, makes_networks
from humboldt.report.words import wrapped
from humboldt.settings import parse_assignments
from humboldt.suites import plans, suites
from humboldt.suites.capabilities import OffersCheck
from humboldt.suites.conformance import Report
from humboldt.suites.experiments import Request
from humboldt.suites.task_check import check_experiment


def check(
    suite: Annotated[str, typer.Argument(help="The suite, e.g. chomsky; or the word `task` or `model`.")],
    task: Annotated[str, typer.Argument(help="The task, e.g. parity_check; after `task` or `model`, FILE.py:NAME.")],
    file: Annotated[
        Path | None, typer.Argument(help='Examples from outside: JSON lines {"input": ..., "target": ...}.')
    ] = None,
    on: Annotated[str | None, typer.Option(help="Check a model on this SUITE/TASK.")] = None,
    preset: Annotated[
        str | None,
        typer.Option("--preset", help="The preset of the strings for a model: paper or quick. Default: quick."),
    ] = None,
    set_: Settings = [],  # noqa: B006
    as_records: AsRecords = False,
    plugin: Plugins = [],  # noqa: B006
) -> None:
    """Check a task or a model from outside, or examples of a task.

    Does the task agree with its oracle? Can the model be trained or scored? Do the examples agree with our definition?
    Exits with 1 if not.
    """
    load_files(plugin)
    if suite == "task":
        refuse("check task", {f"The file {file}": file, "--on": on})
        report = _checked_task(task, "quick" if preset is None else preset, parse_assignments(set_))
        passed = report.passed
    elif suite == "model":
        refuse("check model", {f"The file {file}": file})
        report, passed = _checked_model(task, on, "quick" if preset is None else preset, parse_assignments(set_))
    else:
        refuse(f"check {suite}", {"--on": on, "--preset": preset})
        report, passed = _checked_examples(suite, task, file, parse_assignments(set_))
    print(json.dumps(report.to_dict(), ensure_ascii=False) if as_records else wrapped(str(report), sys.stdout))
    if not passed:
        raise typer.Exit(1)


def _checked_task(place: str, preset: str, changes: dict[str, str]) -> TaskCheck:
    """Checks a task, given as FILE.py:CLASS or by its registered name, SUITE/TASK."""
    name = place
    if ".py" in place:
        task = attribute_of_file(place, is_task, "tasks")
        if not is_task(task):
            raise UsageError(f"{place} is not a task: a task is a class that derives from AbstractTask.")
        name = next((name for name, known in tasks.registered().items() if known is task), place)
    if name == place and name not in tasks:
        if ".py" not in place:
            raise UsageError(
                f"There is no task {place!r}. Give FILE.py:CLASS, or SUITE/TASK and the file with --plugin."
            )
        return check_task(place, attribute_of_file(place)(**changes))
    suite, _, task_name = name.partition("/")
    (experiment, *_) = plans.plan(suites.get(suite), Request((task_name,), (), preset, 1, changes))
    return check_experiment(suites.get(suite), experiment)


def _checked_model(place: str, on: str | None, preset: str, changes: dict[str, str]) -> tuple[ModelCheck, bool]:
    suite, slash, task = (on or "").partition("/")
    if not slash:
        given = "--on is missing" if on is None else f"--on {on}"
        raise UsageError(f"{given}: name a task for the model, as SUITE/TASK, e.g. --on chomsky/parity_check.")
    model = attribute_of_file(place, is_model, "models")
    if makes_networks(model):
        name = register_reference(place)
        report = check_network(name, suite, task, preset=preset, settings=changes)
    else:
        report = check_model(model, suite, task, name=place, preset=preset, settings=changes)
    return report, report.passed


def _checked_examples(suite: str, task: str, file: Path | None, changes: dict[str, str]) -> tuple[Report, bool]:
    if file is None:
        raise UsageError(f"check {suite} {task}: the file of examples is missing. Name a file of JSON lines.")
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()  # a byte order mark is not part of the first line
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"`{file}` cannot be read: {error}. Give a text file of JSON lines.") from error
    its_suite = suites.get(suite)
    if not isinstance(its_suite, OffersCheck):
        able = [name for name in suites.names() if isinstance(suites.get(name), OffersCheck)]
        raise UsageError(f"The suite {suite} has no conformance check. These have one: {', '.join(able)}.")
    report = its_suite.check(task, lines, changes)
    return report, report.agrees
