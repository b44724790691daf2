"""Figures of the syntax suite: accuracy by vocabulary with the shortcuts, by length, and of every member."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from humboldt.report.figures import FAMILY, MODEL, AnyFigure, Axis, Figure, Kind
from humboldt.report.words import counted
from humboldt.suites.cells import Cell, OverviewEntry
from humboldt.suites.plots import best_and_band, cloud, member_rows, named
from humboldt.suites.syntax.tables import CAPTURED, SPLIT_TITLES, best_shortcut, is_captured, measured, percents

if TYPE_CHECKING:
    from humboldt.suites.syntax.suite import Syntax

PERCENT, ACCURACY = (40.0, 100.0), "Accuracy, percent"
CHANCE = ((50.0, "chance"), (CAPTURED, "captured"))
SHORTCUT = "shortcut without structure"


def glance(cells: Sequence[Cell]) -> OverviewEntry | None:
    """Counts the pairs of language and vocabulary that some member captures out of distribution."""
    best = [(cell, max(percents(cell, "out_of_dist"))) for cell in cells if percents(cell, "out_of_dist")]
    if not best:
        return None
    captured = sum(is_captured(value) for _, value in best)
    members = sorted({len(percents(cell, "out_of_dist")) for cell, _ in best})
    about = (
        f"{captured} of {counted(len(best), 'test')} out of distribution captured (best of "
        f"{counted(members, 'member')}, more than {CAPTURED:.0f}%)"
    )
    bars = tuple((f"{c.task}, {c.place[0]} terminals: {v:.1f}%", max(0.0, v / 50 - 1)) for c, v in best)
    return OverviewEntry(text=f"{captured}/{len(best)} captured", about=about, bars=bars)


def figures(suite: "Syntax", cells: Sequence[Cell]) -> list[AnyFigure]:
    """Returns all figures for which there are results."""
    cells = [cell for cell in cells if percents(cell, "in_dist")]
    drawn = [_vocabularies(suite, cells), _lengths(suite, cells), _members(suite, cells)] if cells else []
    return [figure for figure in drawn if figure is not None]


def _vocabularies(suite: "Syntax", cells: Sequence[Cell]) -> Figure:
    rows: list[dict[str, Any]] = []
    shortcuts: dict[tuple[str, int], dict[str, Any]] = {}
    for cell in cells:
        terminals, distribution = cell.place
        for measure, split in SPLIT_TITLES.items():
            panel, values = f"{cell.task}, {distribution}, {split}", percents(cell, measure)
            point = {"x": terminals, "best": round(max(values), 3), "members": len(values)}
            band = {"low": round(min(values), 3), "high": round(max(values), 3)}
            rows.append({**named(suite, cell.model), "task": panel, **point, **band})
            name, accuracy = _shortcut(cell, measure)
            about = {MODEL: SHORTCUT, FAMILY: SHORTCUT, "task": panel, "classifier": name}
            if name:
                shortcuts[panel, terminals] = {**about, "x": terminals, "best": round(accuracy, 3)}
    return Figure(
        name="vocabularies",
        title="Accuracy by size of the vocabulary",
        about="The best member, in and out of distribution; the band goes down to the worst. The shortcut is the best "
        "classifier that knows no structure, on the same strings: an accuracy below it needs no syntax.",
        kind=Kind.LINES,
        rows=(*rows, *shortcuts.values()),
        x=Axis("x", "Terminals of each non-terminal", is_log=True),
        y=Axis("best", ACCURACY, domain=PERCENT),
        panel="task",
        rules=CHANCE[:1],
    )


def _shortcut(cell: Cell, measure: str) -> tuple[str, float]:
    _, _, result = cell.finished(measure)[0]
    return best_shortcut(result, measure) if result.detail.get("shortcuts") else ("", 0.0)


def _lengths(suite: "Syntax", cells: Sequence[Cell]) -> Figure | None:
    rows: list[dict[str, Any]] = []
    for cell in cells:
        curves = [
            (value, (curve["lengths"], [100 * share for share in curve["accuracy"]]))
            for value, _, result in cell.finished("out_of_dist")
            if (curve := result.detail.get("accuracy_per_length"))
        ]
        if curves:
            about = {**named(suite, cell.model), "task": f"{cell.task}, {cell.place[0]} terminals, {cell.place[1]}"}
            rows += [{**about, **point} for point in best_and_band(curves)]
    if not rows:
        return None
    first, last = cells[0].scores[0].training.setting["lengths"]
    return Figure(
        name="lengths",
        title="Accuracy by length",
        about="The member that is best out of distribution; the band is the middle half of all members. Shaded: the "
        "lengths of training.",
        kind=Kind.LINES,
        rows=tuple(rows),
        x=Axis("x", "Length of the string"),
        y=Axis("best", ACCURACY, domain=(0.0, 100.0)),
        panel="task",
        shaded=(first, last, "training"),
    )


def _members(suite: "Syntax", cells: Sequence[Cell]) -> Figure:
    rows = []
    for cell in cells:
        for values in measured(cell):
            place = f"{cell.task}, {cell.place[0]}, {SPLIT_TITLES[values.measure].split('-')[0]}"
            rows += member_rows(suite, cell, values, place)
    title = "Every member, in and out of distribution"
    return cloud("accuracies", rows, title=title, y=ACCURACY, rules=CHANCE, domain=PERCENT)
