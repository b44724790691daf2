"""Tables as text, CSV and JSON."""

import csv
import io
import itertools
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
LEAST_WIDTH = 20  # of a column of text that is folded
RECORD_ENDINGS = (".csv", ".json", ".parquet")
NOTHING = "–"  # printed for a number that does not exist


@dataclass(frozen=True, kw_only=True)
class Record:
    """One row of `--json` output."""

    suite: str
    task: str
    model: str
    setting: str
    measure: str
    statistic: str
    value: float | str
    members: int
    published: float | str | None


@dataclass(frozen=True, kw_only=True)
class TableCell:
    """A number in a table.

    - `value`: in the unit of the table. A text if it is not known exactly, as the B-index `<1`; `None` is shown as `–`.
    - `form`: format specification of `value` and `deviation`, for example `.1f`.
    - `deviation`: standard deviation, shown after `±`. `mark`: text shown after the number, for example `*`.
    - `cell`: key of the cell of results that the number is about; empty for all other numbers, for example a chance
      level or a published number in a column of its own.
    - `published`: the paper's number for the same cell, in the same unit; `None` if the paper has none. `scale`: the
      range of possible values, against which a difference to `published` is large or small.
    - `is_solved`: whether the number counts as success, if the paper defines success.

    >>> TableCell(value=98.25, form=".1f", deviation=0.5).text, TableCell(value=7).text, TableCell().text
    ('98.2 ± 0.5', '7', '–')
    """

    value: float | str | None = None
    form: str = ""
    deviation: float | None = None
    mark: str = ""
    cell: str = ""
    published: float | str | None = None
    scale: float = 1.0
    is_solved: bool = False

    @property
    def text(self) -> str:
        """The number as tables print it."""
        if self.value is None:
            return NOTHING
        number = self.value if isinstance(self.value, str) else format(self.value, self.form)
        deviation = "" if self.deviation is None else f" ± {self.deviation:{self.form}}"
        return f"{number}{deviation}{self.mark}"


@dataclass(frozen=True)
class MissingCell:
    """A place in a table for which a task and a model have no results yet."""

    task: str
    model: str

    @property
    def text(self) -> str:
        """The place as tables print it."""
        return NOTHING


TableEntry = str | TableCell | MissingCell
"""One place in a row of a table; texts are labels, lists and words."""


@dataclass(frozen=True)
class Table:
    """A table in the layout of a paper, with notes below.

    `labels`: how many columns describe a row; 0 if their entries tell.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[TableEntry, ...], ...]
    notes: tuple[str, ...] = ()
    labels: int = 0

    @property
    def texts(self) -> tuple[tuple[str, ...], ...]:
        """The rows as printed texts."""
        return tuple(tuple(entry if isinstance(entry, str) else entry.text for entry in row) for row in self.rows)


def as_text(tables: Sequence[Table], *, width: int | None = None) -> str:
    """Returns tables as aligned text. Columns named `paper` hold the published numbers.

    A table that is wider than `width` (by default the width of the terminal, if stdout is one) is printed in parts; if
    a part is still too wide, its widest column of text is folded. Files get the whole table.
    """
    if width is None and sys.stdout.isatty():
        width = shutil.get_terminal_size().columns
    return "\n\n".join(_block(table, width) for table in tables)


def _block(table: Table, width: int | None) -> str:
    texts = table.texts
    widths = [max(len(row[i]) for row in [table.columns, *texts]) for i in range(len(table.columns))]
    to_right = [all(_is_single_number(row[i]) for row in table.rows) for i in range(len(table.columns))]

    def lines_of(row: Sequence[str], places: Sequence[int], widths: Sequence[int]) -> list[str]:
        found = []
        for entries in itertools.zip_longest(*(_folded(row[i], widths[i]) for i in places), fillvalue=""):
            beside = zip(places, entries, strict=True)
            padded = (text.rjust(widths[i]) if to_right[i] else text.ljust(widths[i]) for i, text in beside)
            found.append("  ".join(padded).rstrip())
        return found

    lines = [table.title]
    rule = ""
    for places in _parts(table, widths, width):
        narrowed = _narrowed(places, widths, to_right, width)
        rule = "─" * (sum(narrowed[i] for i in places) + 2 * (len(places) - 1))
        rows = [line for row in texts for line in lines_of(row, places, narrowed)]
        lines += [rule, *lines_of(table.columns, places, narrowed), rule, *rows]
    notes = [textwrap.fill(note, min(width or NOTES_WIDTH, NOTES_WIDTH)) for note in table.notes]
    return "\n".join([*lines, rule, *notes])


def _narrowed(places: Sequence[int], widths: Sequence[int], to_right: Sequence[bool], width: int | None) -> list[int]:
    """Returns the widths of columns, where the widest one of text leaves room for the others of its part, if it can."""
    found = list(widths)
    beyond = sum(widths[i] for i in places) + 2 * (len(places) - 1) - (width or 0)
    of_text = [i for i in places if not to_right[i]]
    if width is not None and beyond > 0 and of_text:
        widest = max(of_text, key=lambda i: widths[i])
        if widths[widest] - beyond >= LEAST_WIDTH:
            found[widest] -= beyond
    return found


def _folded(text: str, width: int) -> list[str]:
    """Returns the lines of an entry. A command is to be copied, and stays whole."""
    if len(text) <= width or text.startswith("humboldt "):
        return [text]
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


def _is_single_number(entry: TableEntry) -> bool:
    """Returns whether an entry is aligned to the right. Numbers with deviations have no common decimal place."""
    return not isinstance(entry, str) and not (isinstance(entry, TableCell) and entry.deviation is not None)


def _is_result(entry: TableEntry) -> bool:
    """Returns whether an entry belongs to a cell of results, and does not only describe its row."""
    return isinstance(entry, MissingCell) or (isinstance(entry, TableCell) and bool(entry.cell))


def _parts(table: Table, widths: Sequence[int], width: int | None) -> list[list[int]]:
    """Returns the columns of each part of a table. Every part begins with the columns that describe a row: as many as
    the table says, or those before the first result or number. Published numbers stay beside ours."""
    count = len(table.columns)
    results = [i for i in range(count) if any(_is_result(row[i]) for row in table.rows)]
    numbers = [i for i in range(count) if not all(isinstance(row[i], str) for row in table.rows)]
    first = table.labels or next(iter(results or numbers), count)
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
    """Returns records as CSV with a header."""
    if not records:
        return ""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


def as_json(records: Sequence[Mapping[str, Any]]) -> str:
    """Returns records as one JSON array, one record per line."""
    return "[" + ",\n ".join(json.dumps(record, ensure_ascii=False) for record in records) + "]\n"


def check_ending(path: Path) -> None:
    """Raises a usage error if records cannot be written in the format of this extension."""
    if path.suffix not in RECORD_ENDINGS:
        raise UsageError(f"--output {path}: unsupported extension; use .csv, .json or .parquet.")


def write_records(path: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Writes flat records to a file. The extension chooses the format: `.csv`, `.json` or `.parquet`."""
    check_ending(path)
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
