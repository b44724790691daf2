"""The figures of Hupkes et al. (2020): by depth, length and functions, single functions, exceptions over epochs."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from humboldt.report.figures import AnyFigure, Axis, Figure, Kind
from humboldt.suites.cells import Cell, OverviewEntry
from humboldt.suites.pcfg_set.records import (
    main_measure,
    measured,
    measures_of,
    results,
    single_function,
    single_functions,
    test_of,
    values_of,
)
from humboldt.suites.plots import cloud, mean_and_interval, member_rows, named

if TYPE_CHECKING:
    from humboldt.suites.pcfg_set.suite import PcfgSet

SHARE = (0.0, 1.0)
ANSWERS = ("overgeneralised", "memorised", "neither")
SIZES = {"depth": "Depth", "length": "Length", "num_functions": "Number of functions"}


def glance(cells: Sequence[Cell]) -> OverviewEntry | None:
    """Returns task accuracy as the headline, and all tests as bars."""
    means = {test_of(cell): values[0].spread.mean for cell in cells if (values := measures_of(cell))}
    if not means:
        return None
    bars = tuple((f"{test}: {value:.2f}", value) for test, value in means.items())
    first = "task_accuracy" if "task_accuracy" in means else next(iter(means))
    listed = ", ".join(f"{test} {value:.2f}" for test, value in means.items())
    return OverviewEntry(text=f"{means[first]:.2f} {first.replace('_', ' ')}", about=f"Means: {listed}", bars=bars)


def figures(suite: "PcfgSet", cells: Sequence[Cell]) -> list[AnyFigure]:
    """Returns all figures for which there are results."""
    drawn: list[AnyFigure | None] = [_members(suite, cells)]
    drawn += [_sizes(suite, cells, by) for by in SIZES]
    drawn += [_functions(suite, cells), _string_lengths(suite, cells), _exceptions(suite, cells)]
    return [figure for figure in drawn if figure is not None]


def _members(suite: "PcfgSet", cells: Sequence[Cell]) -> Figure | None:
    rows = []
    for cell in cells:
        place = ", ".join([test_of(cell), *(f"{100 * rate:g}%" for rate in cell.place)])
        for values in measures_of(cell):
            rows += member_rows(suite, cell, values, place)
    if not rows:
        return None
    return cloud("tests", rows, title="Every member in every test", y="Accuracy or consistency", domain=SHARE)


def _grouped(cell: Cell, breakdown: str) -> Mapping[int, list[float]]:
    """Returns the shares of all members for each value of a breakdown."""
    values: dict[int, list[float]] = {}
    for result in results(cell):
        shares: Mapping[str, Any] = result.detail.get("score", {}).get("breakdowns", {}).get(breakdown, {})
        for key, share in shares.items():
            if share["value"] is not None:
                values.setdefault(int(key), []).append(share["value"])
    return dict(sorted(values.items()))


def _sizes(suite: "PcfgSet", cells: Sequence[Cell], by: str) -> Figure | None:
    """Returns Figures 6 and 8: the test set of task accuracy beside that of productivity."""
    rows = [
        {**named(suite, cell.model), "task": test_of(cell), **_as_best(row)}
        for cell in cells
        if test_of(cell) in ("task_accuracy", "productivity")
        for row in mean_and_interval(_grouped(cell, by))
    ]
    if not rows:
        return None
    return Figure(
        name=by.replace("_", "-"),
        title=f"Accuracy by {SIZES[by].lower()}",
        about="Mean over members of the sequence accuracy; the band is a 95% bootstrap interval of the mean. Figures 6 "
        "and 8 of the paper.",
        kind=Kind.LINES,
        rows=tuple(rows),
        x=Axis("x", SIZES[by]),
        y=Axis("best", "Sequence accuracy", domain=SHARE),
        panel="task",
    )


def _as_best(row: Mapping[str, Any]) -> dict[str, Any]:
    columns = {"best": row["value"]} | {key: value for key, value in row.items() if key != "value"}
    return {key: round(value, 4) if isinstance(value, float) else value for key, value in columns.items()}


def _functions(suite: "PcfgSet", cells: Sequence[Cell]) -> Figure | None:
    rows: list[dict[str, Any]] = []
    for cell in cells:
        if test_of(cell) == "functions":
            names = dict.fromkeys(name for result in results(cell) for name in result.measures)
            values = {name: values_of(cell, measured(name)) for name in names}
            rows += [{**named(suite, cell.model), **row} for row in mean_and_interval(values)]
    if not rows:
        return None
    return Figure(
        name="functions",
        title="Accuracy by outermost function",
        about="Mean over members, with a 95% bootstrap interval of the mean. Figure 7 of the paper.",
        kind=Kind.BARS,
        rows=tuple(rows),
        x=Axis("x", "Function", "category", order=tuple(dict.fromkeys(row["x"] for row in rows))),
        y=Axis("value", "Sequence accuracy", domain=SHARE),
    )


def _string_lengths(suite: "PcfgSet", cells: Sequence[Cell]) -> Figure | None:
    rows: list[dict[str, Any]] = []
    for cell in cells:
        if test_of(cell) == "string_lengths":
            model = named(suite, cell.model)
            for function, lengths in single_functions(cell).items():
                values = {length: values_of(cell, single_function(function, length)) for length in lengths}
                about = {**model, "task": model["model"], "function": function}
                rows += [{**about, **_as_best(row)} for row in mean_and_interval(values)]
    if not rows:
        return None
    return Figure(
        name="string-lengths",
        title="Single functions on longer strings",
        about="Mean over members; the band is a 95% bootstrap interval of the mean. Shaded: those in training. "
        "As Figure 10 of the paper, without the arguments that remove_first and remove_second discard.",
        kind=Kind.LINES,
        rows=tuple(rows),
        x=Axis("x", "Symbols of a string"),
        y=Axis("best", "Sequence accuracy", domain=SHARE),
        shaded=(2, 5, "training"),
        colour="function",
        colour_title="Function",
        panel="task",
    )


def _exceptions(suite: "PcfgSet", cells: Sequence[Cell]) -> Figure | None:
    """Returns Figure 11: exceptions answered by the rules, by heart and in neither way, by epoch."""
    rows: list[dict[str, Any]] = []
    for cell in cells:
        if main_measure(cell) != "overgeneralisation":
            continue
        values: dict[tuple[str, int], list[float]] = {}
        for result in results(cell):
            for epoch in result.detail.get("milestones", ()):
                shares = {kind: epoch[kind]["all"] for kind in ANSWERS[:2] if "all" in epoch.get(kind, {})}
                if len(shares) == 2:
                    shares[ANSWERS[2]] = 1 - sum(shares.values())
                for kind, share in shares.items():
                    values.setdefault((kind, epoch["epoch"]), []).append(share)
        model = named(suite, cell.model)
        for row in mean_and_interval(values):
            kind, epoch = row["x"]
            panel = f"{model['model']}, {100 * cell.place[0]:g}% exceptions"
            rows.append({**model, "task": panel, "answer": kind, **_as_best({**row, "x": epoch})})
    if not rows:
        return None
    return Figure(
        name="exceptions",
        title="Exceptions over epochs",
        about="The share of all exceptions that are answered by the rules (overgeneralised), by heart (memorised) and "
        "in neither way: mean over members with a 95% bootstrap interval. As Figure 11 of the paper; Table 1 counts "
        "primitive ones.",
        kind=Kind.LINES,
        rows=tuple(rows),
        x=Axis("x", "Epoch"),
        y=Axis("best", "Share of exceptions", domain=SHARE),
        colour="answer",
        colour_title="Answer",
        panel="task",
    )
