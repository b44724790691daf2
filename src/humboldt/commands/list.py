"""`humboldt list`: lists suites, tasks, models or settings."""

from enum import StrEnum
from typing import Annotated

import typer

from humboldt.commands import listing
from humboldt.commands.options import AsRecords, Plugins
from humboldt.errors import UsageError, unknown_name
from humboldt.plugins import load_files
from humboldt.report.tables import as_json
from humboldt.suites import suites


class Listing(StrEnum):
    """Kinds of entries that can be listed."""

    SUITES = "suites"
    TASKS = "tasks"
    MODELS = "models"
    SETTINGS = "settings"


def list_(
    what: Annotated[
        str, typer.Argument(help="suites, tasks, models or settings; or a suite, for its tasks.")
    ] = Listing.SUITES.value,
    suite: Annotated[str | None, typer.Argument(help="Only this suite.")] = None,
    task: Annotated[str | None, typer.Option(help="With settings: those of this task.")] = None,
    model: Annotated[str | None, typer.Option(help="With settings: those of this model.")] = None,
    as_records: AsRecords = False,
    plugin: Plugins = [],  # noqa: B006
) -> None:
    """List suites, tasks, models or the settings of a suite."""
    load_files(plugin)
    if what in suites and suite is None:
        what, suite = Listing.TASKS.value, what
    if what not in list(Listing):
        raise unknown_name("list", what, [*(each.value for each in Listing), *suites.names()])
    if suite is not None:
        suites.get(suite)
    if (task is not None or model is not None) and what != Listing.SETTINGS:
        raise UsageError("--task and --model choose among settings. Write e.g. `humboldt list settings chomsky`.")
    if what == Listing.SETTINGS:
        records = listing.list_settings(listing.needed_suite(suite), task, model)
    else:
        records = {"suites": listing.list_suites, "tasks": listing.list_tasks, "models": listing.list_models}[what]()
        records = [record for record in records if suite in (None, record.get("suite", record["name"]))]
    print(as_json(records) if as_records else f"{listing.as_text(what, records)}\n", end="")
