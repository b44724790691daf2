"""Figures shared by several suites."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from humboldt.report.figures import FAMILY, MODEL, MOST_ROWS, AnyFigure, Axis, Figure, Kind, Row
from humboldt.settings import words
from humboldt.suites import catalogue
from humboldt.suites.cells import Cell, MeasureValues

if TYPE_CHECKING:
    from humboldt.suites.base import AbstractSuite

DIGITS = 4  # of a member's number in a figure
MOST_CLOUD = 2_000  # members in a cloud; of more, the best, the worst and evenly spaced others are shown


def named(suite: "AbstractSuite", model: str) -> dict[str, str]:
    """Returns the columns with the model and family of a row."""
    return {MODEL: catalogue.contender(suite, model).title, FAMILY: catalogue.family(suite, model)}


def member_rows(suite: "AbstractSuite", cell: Cell, measured: MeasureValues, place: str) -> list[dict[str, Any]]:
    """Returns a row for each member of a cell, for a cloud of the values in `found`."""
    about: dict[str, Any] = {**named(suite, cell.model), "place": place, "of": len(measured.values)}
    about |= {} if measured.published is None else {"published": measured.published}
    return [{**about, "value": round(value, DIGITS)} for value in measured.values]


def clouds(suite: "AbstractSuite", cells: Sequence[Cell]) -> list[AnyFigure]:
    """Returns one figure for each measure, with a point for every member."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for cell in cells:
        place = ", ".join([cell.task, *map(words, cell.place)]) if cell.place else cell.task
        for values in suite.presentation.measured(cell):
            rows.setdefault(values.measure, []).extend(member_rows(suite, cell, values, place))
    return [cloud(measure, of_measure) for measure, of_measure in rows.items()]


def cloud(
    measure: str,
    rows: Sequence[Row],
    *,
    title: str = "",
    about: str = "",
    y: str = "",
    rules: tuple[tuple[float, str], ...] = (),
    domain: tuple[float, float] | None = None,
) -> Figure:
    """Returns a figure with a point for each row, by `place`."""
    places = tuple(dict.fromkeys(row["place"] for row in rows))
    shown, left_out = thinned(rows)
    printed = " A bar marks the paper's number." if any("published" in row for row in rows) else ""
    return Figure(
        name=measure.replace("_", "-"),
        title=title or f"Every member: {measure.replace('_', ' ')}",
        about=(about or "One point for each trained member; the highest one is the best of them.") + printed,
        kind=Kind.POINTS,
        rows=tuple(shown),
        x=Axis("place", "Task", "category", order=places),
        y=Axis("value", y or measure.replace("_", " "), domain=domain),
        rules=rules,
        left_out=left_out,
    )


def thinned(rows: Sequence[Row]) -> tuple[list[Row], str]:
    """Returns at most `MOST_CLOUD` rows, with the best and worst of each group, and a remark on the omitted ones."""
    if len(rows) <= MOST_CLOUD:
        return list(rows), ""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["place"], row[MODEL]), []).append(row)
    most = max(3, MOST_CLOUD // len(groups))
    shown: list[Row] = []
    for group in groups.values():
        ordered = sorted(group, key=lambda row: row["value"])
        places = np.unique(np.linspace(0, len(ordered) - 1, min(most, len(ordered))).round().astype(int))
        shown += [ordered[place] for place in places]
    shown = shown[:MOST_ROWS]
    return shown, f"{len(rows) - len(shown):,} of {len(rows):,} members are not drawn; all are counted in the tables."


Curve = tuple[Sequence[float], Sequence[float] | np.ndarray]
"""The x values and the y values of a curve."""


def best_and_band(curves: Sequence[tuple[float, Curve]]) -> Iterable[dict[str, float]]:
    """Yields the curve of the best member and the quartiles of all members, at the x values of the best member. Each
    curve comes with the score of its member."""
    _, best = max(curves, key=lambda scored: scored[0])
    if all(
        places is best[0] or list(places) == list(best[0]) for _, (places, _) in curves
    ):  # always, unless members were scored differently
        groups = np.array([heights for _, (_, heights) in curves]).T
        quartiles = np.percentile(groups, [25, 50, 75], axis=1).T
    else:
        by_place: dict[float, list[float]] = {}
        for _, (places, heights) in curves:
            for place, height in zip(places, heights, strict=True):
                by_place.setdefault(place, []).append(height)
        groups = [by_place[place] for place in best[0]]
        quartiles = np.array([np.percentile(group, [25, 50, 75]) for group in groups])
    for place, height, (low, median, high), group in zip(*best, quartiles.round(4).tolist(), groups, strict=True):
        yield {
            "x": place,
            "best": round(float(height), 4),
            "low": low,
            "median": median,
            "high": high,
            "members": len(group),
        }


def mean_and_interval(values: Mapping[Any, Sequence[float]]) -> Iterable[dict[str, Any]]:
    """Yields the mean of each group with its bootstrap interval."""
    from humboldt.measures.statistics import bootstrap

    for key, group in values.items():
        interval = bootstrap(group)
        row = {"x": key, "value": float(np.mean(group)), "members": len(group)}
        yield row if interval is None else {**row, "low": interval.low, "high": interval.high}
