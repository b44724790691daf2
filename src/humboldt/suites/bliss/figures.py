"""The figures of Lan et al. (2023): the frontier of the B-index, the largest n by training size, networks drawn."""

import dataclasses
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from humboldt.languages import tasks
from humboldt.languages.bliss import Measure
from humboldt.measures.bliss import sizes
from humboldt.report.figures import AnyFigure, Axis, Drawing, Figure, Kind
from humboldt.suites import catalogue
from humboldt.suites.bliss.tables import EPSILONS, Row, measured_by_size
from humboldt.suites.cells import Cell, OverviewEntry
from humboldt.suites.plots import named

if TYPE_CHECKING:
    from humboldt.suites.bliss.suite import Bliss

MOST_DRAWN = 6  # networks


def glance(cells: Sequence[Cell]) -> OverviewEntry | None:
    """Counts the languages in which some member meets the criterion at a factor of 1 or more."""
    indices = {cell.task: Row(cell).index("met", EPSILONS[0]) for cell in cells if Row(cell).factors}
    if not indices:
        return None
    above = sum(not index.is_below for index in indices.values())
    shares = {task: min(1.0, index.value / 10) for task, index in indices.items()}
    listed = ", ".join(f"{task} {index}" for task, index in indices.items())
    bars = tuple((f"{task}: B = {indices[task]}", share) for task, share in shares.items())
    about = f"B-index at ε = 0.005: {listed}"
    return OverviewEntry(text=f"B ≥ 1 in {above}/{len(indices)}", about=about, bars=bars)


def figures(suite: "Bliss", cells: Sequence[Cell]) -> list[AnyFigure]:
    """Returns the largest n by training size, the frontier, and drawings of networks."""
    rows = [Row(cell) for cell in cells if Row(cell).factors]
    plots = [_sizes(suite, cells), _frontier(suite, rows)] if rows else []
    return [*(figure for figure in plots if figure is not None), *_networks(suite, rows)]


def _sizes(suite: "Bliss", cells: Sequence[Cell]) -> Figure | None:
    rows: list[dict[str, Any]] = []
    for cell in cells:
        for size, measured in measured_by_size(cell).items():
            spread = measured.spread
            about = {**named(suite, cell.model), "task": cell.task, "x": size, "best": spread.best}
            rows.append({**about, "low": min(measured.values), "high": spread.best, "members": spread.members})
    if not rows:
        return None
    lengths = any(tasks.get(f"bliss/{cell.task}").measure is Measure.CATEGORICAL for cell in cells)  # pyright: ignore[reportAttributeAccessIssue]
    remark = " For Dyck languages n is the length of a string." if lengths else ""
    return Figure(
        name="sizes",
        title="Largest n by training size",
        about="Up to which n every string is accepted, from the shortest on: the best member; the band goes down to "
        f"the worst. Figure 3 of the paper.{remark}",
        kind=Kind.LINES,
        rows=tuple(rows),
        x=Axis("x", "Training strings |C|", is_log=True),
        y=Axis("best", "Largest n"),
        panel="task",
    )


def _frontier(suite: "Bliss", rows: Sequence[Row]) -> Figure | None:
    """Shows the share of members that pass against the number of training strings."""
    points: list[dict[str, Any]] = []
    for row in rows:
        order = row.cell.scores[0].training.setting["order"]
        for factor in row.factors:
            size = sizes(factor, order)
            met, read = row.meeting("met", EPSILONS[0], factor)
            points.append(
                {
                    **named(suite, row.cell.model),
                    "task": row.cell.task,
                    "x": size.train,
                    "best": 100 * met / read if read else 0.0,
                    "met": f"{met} of {read}",
                    "tests": size.test,
                    "members": read,
                }
            )
    if not points:
        return None
    return Figure(
        name="frontier",
        title="The frontier: which models pass, from how few strings",
        about="The share of members that meet the criterion (ε = 0.005) after training on 10^N / b strings, tested "
        "on the next 10^N · b. The B-index is the largest b at which the share is above 0. Figure 1 of the paper.",
        kind=Kind.LINES,
        rows=tuple(points),
        x=Axis("x", "Training strings |C|", is_log=True),
        y=Axis("best", "Members that pass, percent", domain=(0, 100)),
        panel="task",
    )


def _networks(suite: "Bliss", rows: Sequence[Row]) -> list[Drawing]:
    """Draws the shortest network of each language for which networks were searched."""
    drawings = []
    for row in rows:
        described = [r for r in row.finished() if "network" in r.detail and "mdl" in r.measures]
        if not described:
            continue
        best = min(described, key=lambda result: result.measures["mdl"])
        bits = f"{best.measures['mdl']:.1f} bits, of them {best.measures['grammar_bits']:.0f} for the network"
        reach = f"; accepts every string up to n = {best.measures['largest_n']:.0f}"
        drawings.append(
            Drawing(
                name=f"network-{row.cell.task}",
                title=f"{row.cell.task}: the shortest {catalogue.contender(suite, row.cell.model).title}",
                about=f"{bits}{reach}. Recurrent connections are dashed. As Figure 4 of the paper.",
                network=json.loads(json.dumps(best.detail["network"])),
            )
        )
    left_out = f"{len(drawings) - MOST_DRAWN} more networks are not drawn." if len(drawings) > MOST_DRAWN else ""
    shown = drawings[:MOST_DRAWN]
    return [*shown[:-1], dataclasses.replace(shown[-1], left_out=left_out)] if shown else []
