"""The figures of Delétang et al. (2023), with every member and not only the best."""

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from humboldt.report.figures import FAMILY, MODEL, AnyFigure, Axis, Figure, Kind
from humboldt.report.words import counted
from humboldt.suites import catalogue
from humboldt.suites.cells import Cell, OverviewEntry
from humboldt.suites.chomsky.tables import SOLVED, is_solved, measured, scores
from humboldt.suites.plots import best_and_band, cloud, member_rows, named

if TYPE_CHECKING:
    from humboldt.suites.chomsky.suite import Chomsky

PERCENT = (0.0, 100.0)
ACCURACY = "Accuracy, percent"


def glance(cells: Sequence[Cell]) -> OverviewEntry | None:
    """Counts the tasks that some member solves."""
    best = {cell.task: values[0].spread.best for cell in cells if (values := measured(cell))}
    if not best:
        return None
    solved, members = sum(map(is_solved, best.values())), sorted({len(cell.finished("score")) for cell in cells} - {0})
    about = f"{solved} of {counted(len(best), 'task')} solved (best of {counted(members, 'member')} at {SOLVED:.0f}%)"
    bars = tuple((f"{task}: {value:.1f}%", value / 100) for task, value in best.items())
    return OverviewEntry(text=f"{solved}/{len(best)} solved", about=about, bars=bars)


def figures(suite: "Chomsky", cells: Sequence[Cell]) -> list[AnyFigure]:
    """Returns accuracy by length, the scores of all members, and both by positional encoding."""
    cells = [cell for cell in cells if measured(cell)]
    candidates = [_lengths(suite, cells), _members(suite, cells), _positions(suite, cells)]
    candidates.append(_lengths_by_positions(suite, cells))
    return [figure for figure in candidates if figure is not None]


def _lengths(suite: "Chomsky", cells: Sequence[Cell]) -> Figure | None:
    rows: list[dict[str, Any]] = []
    for cell in cells:
        shared: dict[tuple[int, ...], tuple[int, ...]] = {}  # nearly all members have the same lengths
        curves = [
            (score, (shared.setdefault(at := tuple(curve["lengths"]), at), 100 * np.array(curve["accuracy"])))
            for score, _, result in scores(cell)
            if (curve := result.detail.get("accuracy_per_length"))
        ]
        if curves:
            about = {**named(suite, cell.model), "task": _place(cell)}
            rows += [{**about, **point} for point in best_and_band(curves)]
    if not rows:
        return None
    trained = [scores.training.setting["train_lengths"] for cell in cells for scores in cell.scores]
    first, last = min(range_[0] for range_ in trained), max(range_[1] for range_ in trained)
    return Figure(
        name="lengths",
        title="Accuracy by length",
        about="The best member of each model; the band is the middle half of all members. Shaded: the lengths of "
        "training. Figures 2 and B.6 of the paper.",
        kind=Kind.LINES,
        rows=tuple(rows),
        x=Axis("x", "Length of the input"),
        y=Axis("best", ACCURACY, domain=PERCENT),
        panel="task",
        shaded=(first, last, "training"),
    )


def _place(cell: Cell) -> str:
    autoregressive, at_scale = cell.place
    words = [cell.task, "autoregressive" if autoregressive else ""]
    return ", ".join(filter(None, [*words, "{} layers, {:,} steps".format(*at_scale) if at_scale else ""]))


def _members(suite: "Chomsky", cells: Sequence[Cell]) -> Figure | None:
    rows = [
        row for cell in cells for values in measured(cell) for row in member_rows(suite, cell, values, _place(cell))
    ]
    about = "One point for each trained member. Tables show the highest one; here is what it was chosen from."
    rules = ((SOLVED, "solved"),)
    if not rows:
        return None
    return cloud("scores", rows, title="Every member's score", about=about, y=ACCURACY, rules=rules, domain=PERCENT)


def _positions(suite: "Chomsky", cells: Sequence[Cell]) -> Figure | None:
    """Shows models that were trained with several positional encodings."""
    rows: list[dict[str, Any]] = []
    for cell in cells:
        values = [(training.setting["model"].get("positions"), score) for score, training, _ in scores(cell)]
        if len({positions for positions, _ in values if positions}) > 1:
            about = {FAMILY: catalogue.family(suite, cell.model), "place": _place(cell)}
            rows += [{**about, MODEL: str(positions), "value": round(score, 3)} for positions, score in values]
    if not rows:
        return None
    about = "One point for each trained member."
    figure = cloud("positions", rows, title="By positional encoding", about=about, y=ACCURACY, domain=PERCENT)
    return dataclasses.replace(figure, colour_title="Positions")


def _lengths_by_positions(suite: "Chomsky", cells: Sequence[Cell]) -> Figure | None:
    """Returns Figures 4a and B.7: the best member of each positional encoding, by length."""
    rows: list[dict[str, Any]] = []
    for cell in cells:
        curves: dict[str, list[tuple[float, tuple[Sequence[int], list[float]]]]] = {}
        for score, training, result in scores(cell):
            if "positions" in training.setting["model"] and (curve := result.detail.get("accuracy_per_length")):
                accuracies = [100 * value for value in curve["accuracy"]]
                of_encoding = curves.setdefault(str(training.setting["model"]["positions"]), [])
                of_encoding.append((score, (tuple(curve["lengths"]), accuracies)))
        for positions, of_positions in curves.items() if len(curves) > 1 else ():
            about = {**named(suite, cell.model), "task": _place(cell), "positions": positions}
            rows += [{**about, **point} for point in best_and_band(of_positions)]
    if not rows:
        return None
    return Figure(
        name="position-lengths",
        title="Accuracy by length and positional encoding",
        about="The best member of each encoding; the band is the middle half of its members. Figures 4a and B.7.",
        kind=Kind.LINES,
        rows=tuple(rows),
        x=Axis("x", "Length of the input"),
        y=Axis("best", ACCURACY, domain=PERCENT),
        colour="positions",
        colour_title="Positions",
        panel="task",
    )


def across(suite: "Chomsky", cells: Sequence[Cell]) -> list[AnyFigure]:
    """Compares cells of all headings that differ only in the lengths of training."""
    groups: dict[tuple[str, str, str], dict[int, list[float]]] = {}
    for cell in cells:
        others = [change for change in cell.heading.changes if change[0] not in ("train_lengths", "test_lengths")]
        key = (
            catalogue.contender(suite, cell.model).title,
            catalogue.family(suite, cell.model),
            f"{_place(cell)}, {cell.heading.preset}",
        )
        for score, training, _ in scores(cell):
            place = key[0], key[1], ", ".join([key[2], *(f"{name}={value}" for name, value in others)])
            groups.setdefault(place, {}).setdefault(training.setting["train_lengths"][1], []).append(score)
    rows = [
        {
            MODEL: model,
            FAMILY: family,
            "task": task,
            "x": last,
            "best": round(max(values), 3),
            "low": round(min(values), 3),
            "high": round(max(values), 3),
            "members": len(values),
        }
        for (model, family, task), by_range in groups.items()
        if len(by_range) > 1
        for last, values in sorted(by_range.items())
    ]
    if not rows:
        return []
    figure = Figure(
        name="ranges",
        title="Phase transition: score by training range",
        about="The best member by the longest length of training; the band goes down to the worst. Figure B.1.",
        kind=Kind.LINES,
        rows=tuple(rows),
        x=Axis("x", "Longest length in training"),
        y=Axis("best", ACCURACY, domain=PERCENT),
        panel="task",
    )
    return [figure]
