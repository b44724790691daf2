"""`humboldt score`: scores files of predictions, without any framework."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from humboldt.commands.options import Plugins, Settings, folder
from humboldt.errors import UsageError
from humboldt.outside.inspect_logs import LogScores, is_log, score_logs
from humboldt.outside.scoring import Scorecard
from humboldt.outside.scoring import score as score_model
from humboldt.plugins import load_files
from humboldt.report.words import printable, tell
from humboldt.settings import parse_assignments


def score(
    suite: Annotated[str, typer.Argument(help="The suite, e.g. chomsky.")],
    task: Annotated[str, typer.Argument(help="The task or test, e.g. parity_check.")],
    file: Annotated[
        list[Path],
        typer.Argument(
            help="Predictions (.jsonl, .tsv, .parquet), a file for each seed; or logs of inspect_ai (.eval, .json)."
        ),
    ],
    twin: Annotated[Path | None, typer.Option(help="A second file, for tests that compare two outputs.")] = None,
    split: Annotated[
        str | None, typer.Option(help="The split of the file, for suites with several (recognition, syntax).")
    ] = None,
    preset: Annotated[
        str | None, typer.Option(help="The preset of the test strings: paper or quick. Default: paper.")
    ] = None,
    set_: Settings = [],  # noqa: B006
    name: Annotated[
        str | None, typer.Option(help="The name of the model in tables. Default: the name of the file.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="With --out: the seed of the first file. Default: 0.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="A folder with results; the scores are added to it.", parser=folder, metavar="DIR"),
    ] = None,
    as_records: Annotated[
        bool, typer.Option("--json", help="Print JSON on a terminal, too. Into a pipe or a file it is always JSON.")
    ] = False,
    plugin: Plugins = [],  # noqa: B006
) -> None:
    """Score files of predictions; print a table, or JSON to a pipe."""
    load_files(plugin)
    if any(map(is_log, file)):
        options = {"--twin": twin, "--split": split, "--name": name, "--out": out, "--set": set_ or None}
        options |= {"--preset": preset, "--seed": seed}
        _check_logs(file, [option for option, value in options.items() if value is not None])
        _print(score_logs(suite, task, file), as_records)
        return
    card = score_model(
        suite,
        file,
        tasks=task,
        name=name or file[0].stem,
        preset="paper" if preset is None else preset,
        settings=parse_assignments(set_),
        seed=0 if seed is None else seed,
        twin=twin,
        split=split,
        out=out,
    )
    _print(card, as_records)


def _check_logs(paths: list[Path], options: list[str]) -> None:
    """Raises an error if logs of inspect_ai are given with other files, or with options that are not about them."""
    for path in paths:
        if not is_log(path):
            raise UsageError(f"`{path}` is not a log of inspect_ai, and others are. Score files of one kind at a time.")
        if not path.is_file():
            raise UsageError(f"`{path}` cannot be read: it is not a file. Give a log of inspect_ai.")
    if options:
        raise UsageError(
            f"{options[0]}: a log of inspect_ai has its own strings and settings and the name of the model, and has no "
            f"place in a paper's table. Leave {options[0]} out."
        )


def _print(card: Scorecard | LogScores, as_records: bool) -> None:
    if as_records or not sys.stdout.isatty():
        print(json.dumps(card.to_dict(), ensure_ascii=False, indent=1))
    else:
        print(printable(card.short()))
        tell("Everything, with lengths and members: the same command with --json.")
