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
