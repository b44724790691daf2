"""`humboldt data`: examples of a task."""

from pathlib import Path
from typing import Annotated

import typer

from humboldt.commands.options import Plugins, Settings
from humboldt.errors import UsageError
from humboldt.plugins import load_files
from humboldt.report.words import counted, tell
from humboldt.settings import parse_assignments
from humboldt.storage import files
from humboldt.suites import catalogue, suites
from humboldt.suites.capabilities import OffersData


def data(
    suite: Annotated[str, typer.Argument(help="The suite, e.g. chomsky.")],
    task: Annotated[str, typer.Argument(help="The task, e.g. parity_check.")],
    split: Annotated[str | None, typer.Option(help="Which split, for suites that have them.")] = None,
    count: Annotated[
        int | None, typer.Option(min=1, help="How many examples. Default: 10; with --split and --output all.")
    ] = None,
    length: Annotated[int | None, typer.Option(min=1, help="Input symbols per example.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same strings.")] = 0,
    after: Annotated[int | None, typer.Option(min=0, help="Only bliss: begin after the strings of this size.")] = None,
    format_: Annotated[str, typer.Option("--format", help="jsonl, or released (only bliss).")] = "jsonl",
    output: Annotated[
        Path | None,
        typer.Option(help="Write a file; its ending says the format: .jsonl, .tsv or .parquet.", metavar="FILE"),
    ] = None,
    preset: Annotated[str, typer.Option("--preset", help="The preset of the settings: paper or quick.")] = "paper",
    set_: Settings = [],  # noqa: B006
    plugin: Plugins = [],  # noqa: B006
) -> None:
    """Print examples of a task, or write them to a file.

    They are printed as JSON lines: {"input": "...", "target": "..."}.
    """
    settings: dict[str, str] = parse_assignments(set_)
    load_files(plugin)
    its_suite = suites.get(suite)
    if not isinstance(its_suite, OffersData):
        raise UsageError(
            f"The suite {suite} has no examples of its tasks. Derive {type(its_suite).__name__} also from "
            "`humboldt.suites.capabilities.OffersData`, and write its method `examples`."
        )
    catalogue.preset(its_suite, preset)  # an error, if there is none of this name
    if split == "":
        raise UsageError("--split '': an empty name is not a split. Leave --split out, or name one.")
    options = {"after": after, "format": format_ if format_ != "jsonl" else None}
    for name, value in options.items():
        if value is not None:
            if name not in its_suite.data_options:
                raise UsageError(f"--{name} {value}: the suite {suite} has no such option. Leave --{name} out.")
            settings[name] = str(value)
    if output is not None and format_ != "jsonl":
        raise UsageError(f"--format {format_} --output {output}: the ending of a file says its form. Leave one out.")
    wanted = 10 if count is None and (output is None or split is None) else count
    about = {"split": split, "count": wanted, "length": length, "seed": seed, "settings": settings, "preset": preset}
    pairs = its_suite.data(task, **about)  # pyright: ignore[reportArgumentType]
    if format_ == "released":  # `#aabb#`, one per line, no newline at the end
        for number, (source, target) in enumerate(pairs):
            print("\n" * (number > 0) + "".join([*source, target[-1]]), end="")
        return
    rows = ({"input": " ".join(source), "target": " ".join(target)} for source, target in pairs)
    if output is not None:
        tell(f"{counted(files.write(output, rows), 'example')} in `{output}`.")
        return
    for row in rows:
        print(files.json_line(row))
