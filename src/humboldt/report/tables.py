"""Tables as text, CSV and JSON."""

import csv
import io
import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from humboldt.errors import UsageError, named_extras


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


def as_text(tables: Sequence[Table], *, width: int = 120) -> str:
    """Aligned text, the same on a terminal and in a file. Columns named `paper` are the published numbers."""
    blocks = []
    for table in tables:
        grid = [table.columns, *table.rows]
        widths = [max(len(row[i]) for row in grid) for i in range(len(table.columns))]
        numeric = [all(_is_number(row[i]) for row in table.rows) for i in range(len(table.columns))]

        def line(row: Sequence[str], widths: list[int] = widths, numeric: list[bool] = numeric) -> str:
            cells = zip(row, widths, numeric, strict=True)
            return "  ".join(c.rjust(w) if is_number else c.ljust(w) for c, w, is_number in cells).rstrip()

        rule = "─" * len(line(["x" * w for w in widths]))
        notes = [textwrap.fill(note, width) for note in table.notes]
        blocks.append("\n".join([table.title, rule, line(table.columns), rule, *map(line, table.rows), rule, *notes]))
    return "\n\n".join(blocks)


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
