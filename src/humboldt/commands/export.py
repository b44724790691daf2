"""`humboldt export`: writes our tasks as files for other programs."""

from pathlib import Path
from typing import Annotated

import typer

from humboldt.commands.options import Plugins, Settings, refuse
from humboldt.errors import UsageError, unknown_name
from humboldt.outside.hub import export_hub
from humboldt.outside.lm_eval import export_lm_eval
from humboldt.plugins import load_files
from humboldt.settings import parse_assignments

PROGRAMS = ("hub", "lm-eval")


def export(
    program: Annotated[
        str,
        typer.Argument(
            help="lm-eval (EleutherAI's lm-evaluation-harness), or hub (a data set: Parquet files with a card)."
        ),
    ],
    what: Annotated[
        str, typer.Argument(help="lm-eval: the suite, e.g. syntax. hub: a new folder.", metavar="SUITE|DIR")
    ],
    out: Annotated[Path | None, typer.Option(help="lm-eval: folder for the task files.", metavar="DIR")] = None,
    task: Annotated[list[str], typer.Option("--task", help="A task; may be repeated. Default: the paper's.")] = [],  # noqa: B006
    preset: Annotated[
        str | None, typer.Option("--preset", help="The preset of the strings. Default: paper; hub: quick.")
    ] = None,
    count: Annotated[
        int, typer.Option(min=0, help="How many test strings of each task at most, spread evenly; 0: all.")
    ] = 500,
    shots: Annotated[
        int | None, typer.Option(min=0, help="lm-eval: how many training examples a prompt has. Default: 8.")
    ] = None,
    end: Annotated[
        str | None, typer.Option(help="lm-eval: what ends a string in minimal pairs. Default: a new line.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the strings of training.")] = 0,
    set_: Settings = [],  # noqa: B006
    plugin: Plugins = [],  # noqa: B006
) -> None:
    """Write our tasks for another program, or as a data set."""
    load_files(plugin)
    if program not in PROGRAMS:
        raise unknown_name("program to export for", program, PROGRAMS)
    if program == "hub":
        refuse("export hub", {"--out": out, "--task": task, "--set": set_, "--shots": shots, "--end": end})
        if not count:
            raise UsageError("--count 0: some suites draw strings without end. Give the largest number of each task.")
        for part in export_hub(Path(what), preset="quick" if preset is None else preset, count=count, seed=seed):
            print(f"{part.file}  {part.rows} rows")
        return
    if out is None:
        raise UsageError("--out is missing: `export lm-eval` needs a folder for the task files. Add --out DIR.")
    changes = parse_assignments(set_)
    options = {"preset": "paper" if preset is None else preset, "settings": changes, "seed": seed}
    options |= {"shots": 8 if shots is None else shots, "end": "\n" if end is None else end}
    for exported in export_lm_eval(what, out, tasks=task, count=count or None, **options):  # pyright: ignore[reportArgumentType]
        print(f"{exported.name}  {exported.strings} strings")
