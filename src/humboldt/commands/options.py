"""Options that several commands share, with shell completion."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from humboldt.errors import UsageError
from humboldt.suites import catalogue, suites


def folder(text: str) -> Path:
    """Returns the path of a folder; raises a usage error for an empty name."""
    if not text:
        raise UsageError("'': an empty name is not a folder. Give a path, e.g. results.")
    return Path(text)


def refuse(call: str, options: Mapping[str, object]) -> None:
    """Raises a usage error if one of these options was given: the call does nothing with it. Missing ones are `None`,
    `False` or empty lists."""
    for option, value in options.items():
        if value is not None and value is not False and value != []:
            raise UsageError(f"{option} has no meaning for `{call}`. Leave it out.")


def _complete_suite() -> list[str]:
    return suites.names()


def _names_of(kind: str, context: typer.Context) -> list[str]:
    """Returns the names of the suite that was typed before, or of all suites."""
    typed: str = context.params.get("suite") or ""
    completed = [typed] if typed in suites else suites.names()
    return [name for suite in completed for name in getattr(catalogue, kind)(suites.get(suite))]


def _complete_task(ctx: typer.Context) -> list[str]:
    return _names_of("tasks", ctx)


def _complete_model(ctx: typer.Context) -> list[str]:
    return _names_of("models", ctx)


def _complete_preset() -> list[str]:
    return list(dict.fromkeys(preset for name in suites.names() for preset in suites.get(name).presets))


Folder = Annotated[Path, typer.Argument(help="A folder with results.", metavar="DIR")]
Out = Annotated[Path, typer.Option("--out", help="Folder for results and checkpoints.", parser=folder, metavar="DIR")]
Settings = Annotated[
    list[str], typer.Option("--set", help="Change a setting: key=value; may be repeated.", metavar="KEY=VALUE")
]
SuiteName = Annotated[str, typer.Argument(help="The suite, e.g. chomsky.", autocompletion=_complete_suite)]
TaskNames = Annotated[
    list[str],
    typer.Option("--task", help="A task; may be repeated. Default: the preset's.", autocompletion=_complete_task),
]
ModelNames = Annotated[
    list[str],
    typer.Option(
        "--model",
        help="A model, or your own as my_file.py:MyGRU; may be repeated. Default: the preset's.",
        autocompletion=_complete_model,
    ),
]
PresetName = Annotated[str, typer.Option("--preset", help="quick or paper.", autocompletion=_complete_preset)]
Seeds = Annotated[int | None, typer.Option("--seeds", help="Seeds per experiment. Default: the preset's.")]
NoEstimate = Annotated[bool, typer.Option("--no-estimate", help="Do not measure how long it will take.")]
Plugins = Annotated[list[Path], typer.Option("--plugin", help="A Python file that adds tasks, models or suites.")]
AsRecords = Annotated[bool, typer.Option("--json", help="Print JSON.")]
