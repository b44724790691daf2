"""Figures of the word problems: right states by length, and every member."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from humboldt.report.figures import AnyFigure, Axis, Figure, Kind
from humboldt.report.words import counted
from humboldt.suites.cells import Cell, OverviewEntry
from humboldt.suites.plots import best_and_band, cloud, member_rows, named
from humboldt.suites.tracking.tables import SOLVED, best, is_solved, measured, words

if TYPE_CHECKING:
    from humboldt.suites.tracking.suite import Tracking

PERCENT, RIGHT = (0.0, 100.0), "Right states, percent"


def glance(cells: Sequence[Cell]) -> OverviewEntry | None:
    """Counts the groups that some member keeps."""
    values = [(panel(cell), 100 * best(cell)[0]) for cell in cells if cell.finished("symbols")]
    if not values:
        return None
    kept = sum(is_solved(value) for _, value in values)
    members = sorted({len(cell.finished("symbols")) for cell in cells} - {0})
    about = f"{kept} of {counted(len(values), 'problem')} kept (best of {counted(members, 'member')} at {SOLVED:.0f}%)"
    bars = tuple((f"{name}: {value:.1f}%", value / 100) for name, value in values)
    return OverviewEntry(text=f"{kept}/{len(values)} kept", about=about, bars=bars)


def figures(suite: "Tracking", cells: Sequence[Cell]) -> list[AnyFigure]:
    """Returns right states by length, and the numbers of all members."""
    cells = [cell for cell in cells if cell.finished("symbols")]
    if not cells:
        return []
    rows = [
        row for cell in cells for values in measured(cell)[:1] for row in member_rows(suite, cell, values, panel(cell))
    ]
    members = cloud("symbols", rows, title="Every member", y=RIGHT, rules=((SOLVED, "kept"),), domain=PERCENT)
    return [*_lengths(suite, cells), members]


def panel(cell: Cell) -> str:
    """Returns the group and the kind of input of a cell."""
    return f"{cell.task}, {words(cell.place)}"


def _lengths(suite: "Tracking", cells: Sequence[Cell]) -> list[Figure]:
    rows: list[dict[str, Any]] = []
    for cell in cells:
        curves = [
            (value, (curve["lengths"], [100 * share for share in curve["symbols"]]))
            for value, _, result in cell.finished("symbols")
            if (curve := result.detail.get("by_length"))
        ]
        if curves:
            about = {**named(suite, cell.model), "task": panel(cell)}
            rows += [{**about, **point} for point in best_and_band(curves)]
    if not rows:
        return []
    trained = [(s.training.setting["shortest"], s.training.setting["longest"]) for c in cells for s in c.scores]
    figure = Figure(
        name="lengths",
        title="Right states by length",
        about="The best member of each model; the band is the middle half of all members. Shaded: the lengths of "
        "training.",
        kind=Kind.LINES,
        rows=tuple(rows),
        x=Axis("x", "Length of the string"),
        y=Axis("best", RIGHT, domain=PERCENT),
        panel="task",
        shaded=(min(first for first, _ in trained), max(last for _, last in trained), "training"),
    )
    return [figure]
