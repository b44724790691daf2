"""Tables as text, CSV and JSON."""

import csv
import io
import json
from collections.abc import Sequence
from typing import Any, Protocol


class TableLike(Protocol):
    """What is needed of a table: a title, columns, rows of text, and notes below."""

    @property
    def title(self) -> str: ...
    @property
    def columns(self) -> tuple[str, ...]: ...
    @property
    def rows(self) -> tuple[tuple[str, ...], ...]: ...
    @property
    def notes(self) -> tuple[str, ...]: ...


def as_text(tables: Sequence[TableLike], *, width: int = 120) -> str:
    """Aligned text, the same on a terminal and in a file. Columns named `paper` are the published numbers."""
    import textwrap

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


def as_csv(records: Sequence[dict[str, Any]]) -> str:
    """Records as CSV with a header."""
    if not records:
        return ""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


def as_json(records: Sequence[dict[str, Any]]) -> str:
    """Records as one JSON array, a record per line."""
    return "[" + ",\n ".join(json.dumps(record, ensure_ascii=False) for record in records) + "]\n"


def _is_number(text: str) -> bool:
    return text.strip("* ") == "–" or text.strip("* <").replace(".", "", 1).isdigit()
