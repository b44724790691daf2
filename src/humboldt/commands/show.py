"""`humboldt show`: results as tables, records or rows."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from humboldt.commands.memory import without_collection
from humboldt.commands.options import Folder, Plugins, refuse
from humboldt.core.results import Scores
from humboldt.errors import UsageError
from humboldt.plugins import load_files
from humboldt.report.tables import Table, as_csv, as_json, as_text, check_ending, write_records
from humboldt.report.words import counted, printable, tell
from humboldt.storage.output import check_output, reason, replacing, shortened
from humboldt.storage.store import Store
from humboldt.suites import suites
from humboldt.suites.long_form import curve_rows, member_rows
from humboldt.suites.reading import chosen, explained, stored, unknown_suite_tables
from humboldt.suites.reading import records as records_of
from humboldt.suites.reading import tables as tables_of


@without_collection()
def show(
    folder: Folder,
    suite: Annotated[str | None, typer.Option(help="Only this suite.")] = None,
    task: Annotated[list[str], typer.Option(help="Only this task; may be repeated.")] = [],  # noqa: B006
    model: Annotated[list[str], typer.Option(help="Only this model; may be repeated.")] = [],  # noqa: B006
    preset: Annotated[str | None, typer.Option(help="Only results of this preset, with or without changes.")] = None,
    members: Annotated[bool, typer.Option("--members", help="A row for each member: CSV, or --json.")] = False,
    curves: Annotated[
        bool, typer.Option("--curves", help="A row for each point of each curve (by length, by step): CSV, or --json.")
    ] = False,
    as_records: Annotated[bool, typer.Option("--json", help="Print JSON records.")] = False,
    as_rows: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    output: Annotated[
        Path | None, typer.Option(help="Write records to a file: .csv, .json or .parquet.", metavar="FILE")
    ] = None,
    failures: Annotated[bool, typer.Option("--failures", help="Print the tracebacks of what failed.")] = False,
    plugin: Plugins = [],  # noqa: B006
) -> None:
    """Show results in the papers' tables, beside their numbers."""
    if sum([as_records, as_rows, output is not None]) > 1:
        raise UsageError("Of --json, --csv and --output only one can be given: there is one output. Choose one.")
    if members and curves:
        raise UsageError("--members and --curves were both given, but they have different columns. Choose one of them.")
    if output is not None:
        check_ending(output)
        check_output(output)
    load_files(plugin)
    if suite is not None:
        suites.get(suite)
    if failures:
        refuse(
            "show --failures",
            {"--task": task, "--model": model, "--preset": preset, "--members": members, "--curves": curves}
            | {"--json": as_records, "--csv": as_rows, "--output": output},
        )
        failed = Store.open(folder).failures(suite)
        texts = [f"{f.task} · {f.model} {json.dumps(f.member)}:\n{f.error}" for f in failed]
        print(printable("\n".join(texts)) or "Nothing has failed.")
        return
    with explained(folder):
        results = chosen(stored(folder, suite), tasks=task, models=model, preset=preset)
        records, tables = _shown(results)
        if members or curves:
            records = member_rows(results) if members else curve_rows(results)
        text = "" if output else _text(records, tables, as_records=as_records, as_rows=as_rows or members or curves)
    if output is None:
        print(text, end="")
        return
    _write(output, records)
    tell(f"{counted(len(records), 'record')} in `{output}`.")


def _shown(results: Sequence[Scores]) -> tuple[list[dict[str, Any]], list[Table]]:
    """Returns the results of all suites as records and as tables."""
    records, tables = list[dict[str, Any]](), list[Table]()
    for name in dict.fromkeys(scores.training.suite for scores in results):
        of_suite = [scores for scores in results if scores.training.suite == name]
        if name not in suites:
            tables += unknown_suite_tables(name, of_suite)
            continue
        records += [asdict(record) for record in records_of(suites.get(name), of_suite)]
        tables += tables_of(suites.get(name), of_suite)
    return records, tables


def _text(records: Sequence[Mapping[str, Any]], tables: Sequence[Table], *, as_records: bool, as_rows: bool) -> str:
    if as_records:
        return printable(as_json(records))
    if as_rows:
        return printable(as_csv(records))
    return (printable(as_text(tables)) or "No results yet.") + "\n"


def _write(output: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Writes records to a file that appears when it is complete."""
    try:
        with replacing(output) as temporary:
            write_records(temporary, records)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"--output {shortened(output)}: it cannot be written: {reason(error)}. Choose another file."
        ) from error
