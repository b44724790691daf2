"""Tables and records as grids of the page, each number with its difference to the paper."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from humboldt.page import commands
from humboldt.page.content import Entry, Grid
from humboldt.report.tables import Missing, Number, Table
from humboldt.suites.base import AbstractSuite
from humboldt.suites.cells import Heading

LEVELS = (0.005, 0.03, 0.1, 0.25)  # of a difference to the paper, as a share of the range: same, close, far, ...


def grid_of(suite: AbstractSuite | None, heading: Heading | None, table: Table, folder: str) -> Grid:
    """A table under a heading, whose empty places have the command that fills them."""
    rows = tuple(tuple(_entries(suite, heading, table, row, folder)) for row in table.rows)
    told = "" if suite is None or heading is None else f"{suite.name}, {heading}"  # by what stands above the table
    title = table.title.removeprefix(told).lstrip(",: ") or "Ours beside the paper's"
    return Grid(title[:1].upper() + title[1:], table.columns, rows, table.notes)


def _entries(
    suite: AbstractSuite | None, heading: Heading | None, table: Table, row: Sequence[str], folder: str
) -> Iterator[Entry]:
    for column, text in zip(table.columns, row, strict=True):
        if isinstance(text, Number):
            gap, level = gap_to_paper(text)
            has = text.published is not None
            yield Entry(str(text).strip(), text.cell, gap, level, text.is_solved, has_counterpart=has)
        elif isinstance(text, Missing) and suite is not None and heading is not None:
            yield Entry(str(text), command=commands.of_missing(suite, heading, [text.task], text.model, folder))
        else:
            yield Entry(str(text).strip(), is_printed=column == "paper")


def recorded(suite: AbstractSuite, file: str, records: Sequence[Mapping[str, Any]]) -> Grid | None:
    """Numbers of this suite that stand beside a published one, and whose members are not at hand."""
    rows = []
    for one in records:
        if one["suite"] != suite.name or one["published"] is None:
            continue
        value = one["value"]
        text = value if isinstance(value, str) else f"{value:.4g}"
        scale = max(1.0, abs(one["published"])) if isinstance(one["published"], int | float) else 1.0
        gap, level = gap_to_paper(Number(text, cell="", value=value, published=one["published"], scale=scale))
        beside = [one["task"], one["model"], one["setting"], one["measure"], one["statistic"]]
        ours = Entry(text, "recorded", gap, level, has_counterpart=True)
        paper = Entry(str(one["published"]), is_printed=True)
        rows.append((*map(Entry, beside), ours, paper, Entry(str(one["members"]))))
    if not rows:
        return None
    columns = ("Task", "Model", "Setting", "Measure", "Statistic", "Ours", "paper", "Members")
    return Grid(f"On record, without single members: {file}", columns, tuple(rows), ())


def gap_to_paper(number: Number) -> tuple[str, int]:
    """The difference to the paper, in words and as a level: 0 is none to speak of, more is more, with its sign."""
    ours, theirs = number.value, number.published
    if ours is None or theirs is None:
        return "", 0
    if isinstance(ours, str) or isinstance(theirs, str):
        if str(ours) == str(theirs):
            return "=", 0
        if str(ours).startswith("<") and _rank(theirs) < _rank(ours):
            return "≠", 0  # less than what was tried: whether it is less than the paper's is not known
        return "≠", len(LEVELS) * (-1 if _rank(ours) < _rank(theirs) else 1)
    apart = ours - theirs
    decimals = len(str(number).rstrip("* ").split(" ")[0].partition(".")[2])
    level = sum(abs(apart) > least * number.scale for least in LEVELS)
    text = f"{apart:+.{decimals}f}"
    return ("=" if float(text) == 0 else text), level if apart > 0 else -level


def _rank(value: float | str) -> float:
    """A B-index as a number: `<1` is less than 1."""
    text = str(value)
    return float(text.removeprefix("<")) - 0.5 * text.startswith("<")
