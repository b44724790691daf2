"""`humboldt check`: checks examples from outside against our definitions, or whether a model can be scored."""

import json
from pathlib import Path
from typing import Annotated

import typer

from humboldt.commands.options import AsRecords, Plugins, Settings
from humboldt.errors import UsageError
from humboldt.models.own import register_reference
from humboldt.outside.model_check import ModelCheck, check_model, check_network
from humboldt.plugins import attribute_of_file, load_files, makes_networks
from humboldt.settings import parse_assignments
from humboldt.suites import suites
from humboldt.suites.capabilities import OffersCheck
from humboldt.suites.conformance import Report


def check(
    suite: Annotated[str, typer.Argument(help="The suite, e.g. chomsky; or the word model.")],
    task: Annotated[str, typer.Argument(help="The task, e.g. parity_check; of a model, FILE.py:NAME.")],
    file: Annotated[
        Path | None, typer.Argument(help='Examples from outside: JSON lines {"input": ..., "target": ...}.')
    ] = None,
    on: Annotated[str | None, typer.Option(help="Check a model on this SUITE/TASK.")] = None,
    preset: Annotated[
        str, typer.Option("--preset", help="The preset of the strings for a model: paper or quick.")
    ] = "quick",
    set_: Settings = [],  # noqa: B006
    as_records: AsRecords = False,
    plugin: Plugins = [],  # noqa: B006
) -> None:
    """Check examples of a task from outside, or a model.

    Do the examples agree with our definition? Can the model be scored? Exit 1 if not.
    """
    load_files(plugin)
    if suite == "model":
        report, passed = _checked_model(task, on, preset, parse_assignments(set_))
    else:
        report, passed = _checked_examples(suite, task, file, parse_assignments(set_))
    print(json.dumps(report.to_dict(), ensure_ascii=False) if as_records else str(report))
    if not passed:
        raise typer.Exit(1)


def _checked_model(place: str, on: str | None, preset: str, changes: dict[str, str]) -> tuple[ModelCheck, bool]:
    suite, slash, task = (on or "").partition("/")
    if not slash:
        raise UsageError(f"--on {on}: say what the model is for, as SUITE/TASK, e.g. --on chomsky/parity_check.")
    model = attribute_of_file(place)
    if makes_networks(model):
        name = register_reference(place)
        report = check_network(name, suite, task, preset=preset, settings=changes)
    else:
        report = check_model(model, suite, task, name=place, preset=preset, settings=changes)
    return report, report.passed


def _checked_examples(suite: str, task: str, file: Path | None, changes: dict[str, str]) -> tuple[Report, bool]:
    if file is None:
        raise UsageError(f"check {suite} {task}: there is no file of examples. Give one, as JSON lines.")
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
