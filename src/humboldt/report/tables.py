"""Tables as text, CSV and JSON."""

import csv
import io
import json
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from humboldt.errors import UsageError, named_extras

NOTES_WIDTH = 120  # columns of the notes below a table, at most


@dataclass(frozen=True)
class Record:
    """One number with its company: the flat form of `--json`."""

    suite: str
    task: str
    model: str
    setting: str
    measure: str
    statistic: str
    value: float | str
    members: int
    published: float | str | None


class Number(str):
    """Text of a table that knows what it shows.

    - `cell`: the key of the cell that it is about, from which all that is known about it can be found.
    - `value`, `published`: ours and the paper's, in the unit of the table; `scale` is the range that values can have,
      against which a difference is large or small. Without a `published` value there is no counterpart.
    - `is_solved`: whether it counts as success, where the paper has such a mark.
    """

    cell: str
    value: float | str | None
    published: float | str | None
    scale: float
    is_solved: bool

    def __new__(
        cls,
        text: str,
        *,
        cell: str,
        value: float | str | None,
        published: float | str | None = None,
        scale: float = 1.0,
        is_solved: bool = False,
    ) -> "Number":
        number = super().__new__(cls, text)
        number.cell, number.value, number.published = cell, value, published
        number.scale, number.is_solved = scale, is_solved
        return number


class Missing(str):
    """Text of a table for a place that has no results yet."""

    task: str
    model: str

    def __new__(cls, text: str, *, task: str, model: str) -> "Missing":
        missing = super().__new__(cls, text)
        missing.task, missing.model = task, model
        return missing


@dataclass(frozen=True)
class Table:
    """A table as the paper lays it out, with rows of text and notes below."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def as_text(tables: Sequence[Table], *, width: int | None = None) -> str:
    """Aligned text. Columns named `paper` are the published numbers.

    A table that is wider than `width` (by default that of the terminal, if stdout is one) is printed in parts. Files
    get the whole table.
    """
    if width is None and sys.stdout.isatty():
        width = shutil.get_terminal_size().columns
    return "\n\n".join(_block(table, width) for table in tables)


def _block(table: Table, width: int | None) -> str:
    grid = [table.columns, *table.rows]
    widths = [max(len(row[i]) for row in grid) for i in range(len(table.columns))]
    numeric = [all(_is_number(row[i]) for row in table.rows) for i in range(len(table.columns))]

    def line(row: Sequence[str], places: Sequence[int]) -> str:
        cells = (row[i].rjust(widths[i]) if numeric[i] else row[i].ljust(widths[i]) for i in places)
        return "  ".join(cells).rstrip()

    lines = [table.title]
    rule = ""
    for places in _parts(table, widths, width):
        rule = "─" * (sum(widths[i] for i in places) + 2 * (len(places) - 1))
        lines += [rule, line(table.columns, places), rule, *(line(row, places) for row in table.rows)]
    notes = [textwrap.fill(note, min(width or NOTES_WIDTH, NOTES_WIDTH)) for note in table.notes]
    return "\n".join([*lines, rule, *notes])


def _parts(table: Table, widths: Sequence[int], width: int | None) -> list[list[int]]:
    """The columns of each part of a table. Every part begins with the columns that say what a row is; the paper's
    numbers stay beside ours."""
    count = len(table.columns)
    texts = [i for i in range(count) if not any(isinstance(row[i], Number | Missing) for row in table.rows)]
    first = next((i for i in range(count) if i not in texts), count)  # the first column of results
    if width is None or first == count or sum(widths) + 2 * (count - 1) <= width:
        return [list(range(count))]
    parts: list[list[int]] = []
    group: list[int] = []
    for i in range(first, count):
        group.append(i)
        if i + 1 < count and table.columns[i + 1] == "paper":
            continue
        taken = [*parts[-1], *group] if parts else []
        if parts and sum(widths[j] for j in taken) + 2 * (len(taken) - 1) <= width:
            parts[-1] = taken
        else:
            parts.append([*range(first), *group])
        group = []
    return parts


def as_csv(records: Sequence[Mapping[str, Any]]) -> str:
    """Records as CSV with a header."""
    if not records:
        return ""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


def as_json(records: Sequence[Mapping[str, Any]]) -> str:
    """Records as one JSON array, a record per line."""
    return "[" + ",\n ".join(json.dumps(record, ensure_ascii=False) for record in records) + "]\n"


def _is_number(text: str) -> bool:
    try:
        float(text.strip("* <").replace("–", "0"))
    except ValueError:
        return False
    return True


def write_records(path: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Writes flat records to a file, in the form that its ending says: `.csv`, `.json` or `.parquet`."""
    if path.suffix not in (".csv", ".json", ".parquet"):
        raise UsageError(f"--output {path}: the ending says the form, and is none of .csv, .json, .parquet.")
    try:
        if path.suffix == ".parquet":
            with named_extras():
                import pyarrow
                import pyarrow.parquet
            pyarrow.parquet.write_table(pyarrow.Table.from_pylist([dict(record) for record in records]), path)
        else:
            path.write_text((as_csv if path.suffix == ".csv" else as_json)(records), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--output {path}: it cannot be written: {error}. Choose another place.") from error
