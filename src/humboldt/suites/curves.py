"""Figures of training: loss and accuracy of the members, step by step."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from humboldt.core.results import Result
from humboldt.report.figures import MOST_ROWS, Axis, Figure, Kind
from humboldt.settings import words
from humboldt.suites.cells import Cell
from humboldt.suites.plots import Curve, best_and_band, named

if TYPE_CHECKING:
    from humboldt.suites.base import AbstractSuite

MOST_POINTS, FEWEST_POINTS = 60, 5  # of a curve
ABOUT = (
    "On the strings of training. The line is the median of the members, of all learning rates tried; the band "
    "is their middle half."
)


def training_curves(suite: "AbstractSuite", cells: Sequence[Cell]) -> list[Figure]:
    """Returns the loss and the accuracy of training by step, for the cells whose members have curves."""
    of_training: dict[tuple[str, str, tuple[str, ...]], list[Result]] = {}
    seen: set[str] = set()
    for cell in cells:  # several evaluations of one training have the same curves
        trainings = [scores for scores in cell.scores if scores.training.key not in seen]
        seen |= {scores.training.key for scores in trainings}
        place = tuple(words(part) for part in cell.place if part not in ((), False, 0, ""))
        results = [result for scores in trainings for result in scores.results if _has_curve(result)]
        if results:
            of_training.setdefault((cell.task, cell.model, place), []).extend(results)
    figures = [
        _figure(suite, of_training, *about) for about in (("loss", "Loss", 1.0), ("accuracy", "Accuracy", 100.0))
    ]
    return [figure for figure in figures if figure is not None]


def _has_curve(result: Result) -> bool:
    """Returns whether a member has a curve of at least two points."""
    return len(result.detail.get("training", {}).get("steps", ())) > 1


def _figure(
    suite: "AbstractSuite",
    of_training: dict[tuple[str, str, tuple[str, ...]], list[Result]],
    measure: str,
    title: str,
    scale: float,
) -> Figure | None:
    points = max(FEWEST_POINTS, min(MOST_POINTS, MOST_ROWS // max(1, len(of_training))))
    rows: list[dict[str, Any]] = []
    for (task, model, place), results in of_training.items():
        curves = [(0.0, curve) for result in results if (curve := _curve(result, measure, scale, points)) is not None]
        about = {**named(suite, model), "task": ", ".join([task, *place])}
        for point in best_and_band(curves) if curves else ():
            del point["best"]
            rows.append({**about, **point})
    if not rows:
        return None
    unit = ", percent" if measure == "accuracy" else ""
    return Figure(
        name=f"training-{measure}",
        title=f"{title} while training",
        about=ABOUT,
        kind=Kind.LINES,
        rows=tuple(rows),
        x=Axis("x", "Step"),
        y=Axis("median", f"{title}{unit}", domain=(0.0, 100.0) if measure == "accuracy" else None),
        panel="task",
    )


def _curve(result: Result, measure: str, scale: float, points: int) -> Curve | None:
    """Returns one curve of a member at some of its steps, the last one included; `None` if it has no such curve. Values
    after a divergence are left out."""
    trained = result.detail["training"]
    pairs = [
        (step, scale * value)
        for step, value in zip(trained["steps"], trained.get(measure) or (), strict=False)
        if value is not None
    ]
    if len(pairs) < 2:
        return None
    keep = np.unique(np.linspace(0, len(pairs) - 1, min(points, len(pairs))).round().astype(int))
    steps, values = zip(*(pairs[place] for place in keep), strict=True)
    return steps, values
