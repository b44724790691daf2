"""`humboldt export`: writes our tasks as files for other programs."""

from pathlib import Path
from typing import Annotated

import typer

from humboldt.commands.options import Plugins, Settings
from humboldt.errors import unknown_name
from humboldt.outside.lm_eval import export_lm_eval
from humboldt.plugins import load_files
from humboldt.settings import parse_assignments

PROGRAMS = ("lm-eval",)


def export(
    program: Annotated[str, typer.Argument(help="The other program: lm-eval (EleutherAI's lm-evaluation-harness).")],
    suite: Annotated[str, typer.Argument(help="The suite, e.g. syntax.")],
    out: Annotated[Path, typer.Option(help="Folder for the task files.", metavar="DIR")],
    task: Annotated[list[str], typer.Option("--task", help="A task; may be repeated. Default: the paper's.")] = [],  # noqa: B006
    preset: Annotated[str, typer.Option("--preset", help="The preset of the test strings: paper or quick.")] = "paper",
    count: Annotated[
        int, typer.Option(min=0, help="How many test strings of each task at most, spread evenly; 0: all.")
    ] = 500,
    shots: Annotated[int, typer.Option(min=0, help="How many training examples a prompt has.")] = 8,
    end: Annotated[str, typer.Option(help="What ends a string in minimal pairs. Default: a new line.")] = "\n",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the strings of training.")] = 0,
    set_: Settings = [],  # noqa: B006
    plugin: Plugins = [],  # noqa: B006
) -> None:
    """Write our tasks as files for another program."""
    load_files(plugin)
    if program not in PROGRAMS:
        raise unknown_name("program to export for", program, PROGRAMS)
    changes = parse_assignments(set_)
    options = {"preset": preset, "settings": changes, "shots": shots, "end": end, "seed": seed}
    for exported in export_lm_eval(suite, out, tasks=task, count=count or None, **options):  # pyright: ignore[reportArgumentType]
        print(f"{exported.name}  {exported.strings} strings")
