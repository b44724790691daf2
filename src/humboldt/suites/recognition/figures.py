"""Figures of the recognition suite: accuracy by length, by edit distance, and of every member."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from humboldt.report.figures import AnyFigure, Axis, Figure, Kind
from humboldt.report.words import counted
from humboldt.suites.cells import Cell, OverviewEntry
from humboldt.suites.plots import best_and_band, cloud, member_rows, named
from humboldt.suites.recognition.scoring import FAR
from humboldt.suites.recognition.tables import SOLVED, is_solved, measured, percents

if TYPE_CHECKING:
    from humboldt.suites.recognition.suite import Recognition

PERCENT, ACCURACY = (0.0, 100.0), "Accuracy, percent"
BINS = 10  # symbols: accuracies of single lengths rest on ten strings each


def glance(cells: Sequence[Cell]) -> OverviewEntry | None:
    """Counts the languages that some member recognises."""
    best = {cell.task: max(percents(cell, "test")) for cell in cells if percents(cell, "test")}
    if not best:
        return None
    solved = sum(map(is_solved, best.values()))
    members = sorted({len(percents(cell, "test")) for cell in cells} - {0})
    of = f"best of {counted(members, 'member')} at {SOLVED:.0f}%"
    about = f"{solved} of {counted(len(best), 'language')} recognised ({of})"
    bars = tuple((f"{task}: {value:.1f}%", max(0.0, value / 50 - 1)) for task, value in best.items())
    return OverviewEntry(text=f"{solved}/{len(best)} recognised", about=about, bars=bars)


def figures(suite: "Recognition", cells: Sequence[Cell]) -> list[AnyFigure]:
    """Returns all figures for which there are results."""
    cells = [cell for cell in cells if percents(cell, "test")]
    if not cells:
        return []
    rows = [
        row for cell in cells for values in measured(cell)[:1] for row in member_rows(suite, cell, values, cell.task)
    ]
    members = cloud("test", rows, title="Every member", y=ACCURACY, rules=((50.0, "chance"),), domain=PERCENT)
    longest = max(scores.training.setting["longest"] for cell in cells for scores in cell.scores)
    by_length = _curves(suite, cells, "length", BINS)
    lengths = Figure(
        name="lengths",
        title="Accuracy by length",
        about=f"The best member of each model, over {BINS} lengths at a time; the band is the middle half of all "
        "members. Shaded: the lengths of training.",
        kind=Kind.LINES,
        rows=tuple(by_length),
        x=Axis("x", "Length of the string"),
        y=Axis("best", ACCURACY, domain=PERCENT),
        panel="task",
        shaded=(0, longest, "training"),
    )
    by_distance = _curves(suite, cells, "distance", 1)
    distances = Figure(
        name="distances",
        title="Accuracy on strings outside the language, by distance",
        about="The edit distance to the language for automata, the number of edits for other languages; "
        f"{FAR} means {FAR} or more.",
        kind=Kind.LINES,
        rows=tuple(by_distance),
        x=Axis("x", "Distance"),
        y=Axis("best", ACCURACY, domain=PERCENT),
        panel="task",
    )
    return [*(figure for figure in (lengths, distances) if figure.rows), members]


def _curves(suite: "Recognition", cells: Sequence[Cell], key: str, width: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for cell in cells:
        curves = [
            (value, binned(curve, width))
            for value, _, result in cell.finished("test")
            if (curve := result.detail.get(f"accuracy_per_{key}"))
        ]
        if curves:
            about = {**named(suite, cell.model), "task": cell.task}
            rows += [{**about, **point} for point in best_and_band(curves)]
    return rows


def binned(curve: dict[str, Any], width: int) -> tuple[list[float], list[float]]:
    """Returns a curve in percent, averaged over strings in bins of `width` values; a bin is named by its first.

    >>> binned({"values": [0, 1, 10], "accuracy": [1.0, 0.5, 0.25], "strings": [3, 1, 4]}, 10)
    ([0, 10], [87.5, 25.0])
    """
    sums: dict[int, list[float]] = {}
    for value, accuracy, strings in zip(curve["values"], curve["accuracy"], curve["strings"], strict=True):
        total = sums.setdefault(value // width * width, [0.0, 0.0])
        total[0] += accuracy * strings
        total[1] += strings
    return list(sums), [100 * right / strings for right, strings in sums.values()]
