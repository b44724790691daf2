"""Tables and records as grids of the page, each number with its difference from the paper."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from humboldt.page import commands
from humboldt.page.content import Entry, Grid
from humboldt.report.tables import MissingCell, Table, TableCell, TableEntry
from humboldt.suites.base import AbstractSuite
from humboldt.suites.cells import SettingGroup

LEVELS = (0.005, 0.03, 0.1, 0.25)  # of a difference from the paper, as a share of the range: same, close, far, ...


def grid_of(suite: AbstractSuite | None, heading: SettingGroup | None, table: Table, folder: str) -> Grid:
    """Returns a table under a heading; empty places have the command that fills them."""
    rows = tuple(tuple(_entries(suite, heading, table, row, folder)) for row in table.rows)
    shown_above = "" if suite is None or heading is None else f"{suite.name}, {heading}"
    title = table.title.removeprefix(shown_above).lstrip(",: ") or "Ours beside the paper's"
    is_name = "_" in title.split(",")[0].split()[0]  # of a task, which is written as it is typed
    return Grid(title if is_name else title[:1].upper() + title[1:], table.columns, rows, table.notes)


def _entries(
    suite: AbstractSuite | None, heading: SettingGroup | None, table: Table, row: Sequence[TableEntry], folder: str
) -> Iterator[Entry]:
    for column, entry in zip(table.columns, row, strict=True):
        is_printed = column == "paper"
        if isinstance(entry, str):
            yield Entry(text=entry.strip(), is_words=True, is_printed=is_printed)
        elif isinstance(entry, MissingCell):
            command = ""
            if suite is not None and heading is not None:
                command = commands.of_missing(suite, heading, [entry.task], entry.model, folder)
            yield Entry(text=entry.text, command=command)
        elif entry.cell:
            gap, level = gap_to_paper(entry)
            yield Entry(
                text=entry.text.strip(),
                key=entry.cell,
                gap=gap,
                level=level,
                is_solved=entry.is_solved,
                has_counterpart=entry.published is not None,
            )
        else:
            yield Entry(text=entry.text.strip(), is_printed=is_printed)


def recorded(suite: AbstractSuite, file: str, records: Sequence[Mapping[str, Any]]) -> Grid | None:
    """Returns the records of this suite that have a published number, and whose members are not stored."""
    rows = []
    for record in records:
        published = record["published"]
        if record["suite"] != suite.name or published is None:
            continue
        scale = max(1.0, abs(published)) if isinstance(published, int | float) else 1.0
        ours = TableCell(value=record["value"], form=".4g", cell="recorded", published=published, scale=scale)
        gap, level = gap_to_paper(ours)
        labels = [record[name] for name in ("task", "model", "setting", "measure", "statistic")]
        rows.append(
            (
                *(Entry(text=label, is_words=True) for label in labels),
                Entry(text=ours.text, key=ours.cell, gap=gap, level=level, has_counterpart=True),
                Entry(text=str(published), is_printed=True),
                Entry(text=str(record["members"])),
            )
        )
    if not rows:
        return None
    columns = ("Task", "Model", "Setting", "Measure", "Statistic", "Ours", "paper", "Members")
    return Grid(f"On record, without single members: {file}", columns, tuple(rows), ())


def gap_to_paper(number: TableCell) -> tuple[str, int]:
    """Returns the difference from the paper as text and as a level: from 0 (negligible) up, with its sign."""
    ours, theirs = number.value, number.published
    if ours is None or theirs is None:
        return "", 0
    if isinstance(ours, str) or isinstance(theirs, str):
        if str(ours) == str(theirs):
            return "=", 0
        if str(ours).startswith("<") and _rank(theirs) < _rank(ours):
            return "≠", 0  # below all that was tried: whether it is below the paper's number is not known
        return "≠", len(LEVELS) * (-1 if _rank(ours) < _rank(theirs) else 1)
    apart = ours - theirs
    level = sum(abs(apart) > least * number.scale for least in LEVELS)
    is_same = format(abs(apart), number.form) == format(0.0, number.form) or math.isclose(ours, theirs)
    return ("=" if is_same else format(apart, f"+{number.form}")), level if apart > 0 else -level


def _rank(value: float | str) -> float:
    """Returns a B-index as a number: `<1` is less than 1."""
    text = str(value)
    return float(text.removeprefix("<")) - 0.5 * text.startswith("<")
