"""`humboldt reproduced`: how much of the papers' tables was measured again, and how much of it agrees."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from humboldt.commands.memory import without_collection
from humboldt.errors import UsageError
from humboldt.report.tables import Table, TableCell, as_json, as_text
from humboldt.report.words import counted, printable, wrapped
from humboldt.suites.published_numbers import PublishedNumber
from humboldt.suites.reproduced import TableOfThePaper, by_cause, disagreements
from humboldt.suites.reproduced import reproduced as compare


@without_collection()
def reproduced(
    folder: Annotated[Path, typer.Argument(help="Folder of results.", metavar="DIR")] = Path("reproductions"),
    suite: Annotated[str | None, typer.Option(help="Only this suite.")] = None,
    missing: Annotated[bool, typer.Option("--missing", help="Print the commands for what is missing.")] = False,
    disagreeing: Annotated[
        bool, typer.Option("--disagreements", help="Print the numbers that do not agree, with likely causes.")
    ] = False,
    as_records: Annotated[bool, typer.Option("--json", help="Print JSON records.")] = False,
) -> None:
    """Say how much of the published tables was measured and agrees."""
    if disagreeing and missing:
        raise UsageError("--missing and --disagreements were both given, but there is one output. Choose one of them.")
    if missing and as_records:
        raise UsageError(
            "--missing and --json were both given, but the records of --json have the commands. Leave one out."
        )
    if disagreeing:
        numbers = disagreements(folder, suite)
        text = as_json(list(map(asdict, numbers))) if as_records else f"{disagreements_text(numbers)}\n"
        print(printable(text), end="")
        return
    tables = compare(folder, suite)
    if as_records:
        print(printable(as_json([asdict(table) for table in tables])), end="")
    elif missing:
        print(printable("\n".join(dict.fromkeys(command for table in tables for command in table.missing))))
    else:
        print(printable(as_text([as_table(tables)])))


def as_table(tables: Sequence[TableOfThePaper]) -> Table:
    """Returns the comparison as a table, a row for each published table."""
    columns = ("Suite", "Table", "Numbers", "Measured", "Earlier", "Judged", "Agree", "Longer", "Cost")
    rows = []
    for one in tables:
        counts = (one.numbers, one.measured, one.superseded, one.judged, one.agree)
        longer = TableCell(value=f"{one.extended_agree}/{one.extended}") if one.extended else TableCell()
        cost = TableCell() if one.cost is None else TableCell(value=100 * one.cost, form=".3g", mark="%")
        rows.append((one.suite, one.table, *(TableCell(value=count) for count in counts), longer, cost))
    rules = dict.fromkeys(f"{one.suite}: {one.rule}" for one in tables if one.rule)
    notes = (
        f"{sum(one.measured for one in tables):,} of {sum(one.numbers for one in tables):,} numbers are measured.",
        f"Agreement: {'; '.join(rules)}. Other numbers are measured, but not judged. Nor is a lower best of fewer "
        "members than the paper's.",
        "Earlier: of the measured, those with an earlier version of a corpus or a network.",
        "Longer: of the judged, those of which there is a longer training as well, and how many of these agree.",
        "Cost: members times length of training, in percent of the paper's for the same cells.",
        "Commands for what is missing: --missing. Numbers that do not agree: --disagreements.",
    )
    return Table("What is reproduced", columns, tuple(rows), notes)


def disagreements_text(numbers: Sequence[PublishedNumber]) -> str:
    """Returns the numbers that do not agree, ours with the paper's in brackets, below their likely cause."""
    lines = ["What does not agree: ours (paper), by likely cause"]
    for (suite, table, cause), texts in by_cause(numbers).items():
        lines += ["", f"{suite}, {table}: {cause}", *(f"  {text}" for text in texts)]
    return wrapped("\n".join([*lines, "", f"{counted(len(numbers), 'number')} in all."]), sys.stdout)
