"""The figures of Kharitonov and Chaabouni (2021): which rule is preferred, and how many bits each costs."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from humboldt.core.results import State
from humboldt.measures.statistics import wilson
from humboldt.report.figures import AnyFigure, Axis, Figure, Kind
from humboldt.suites.bias.printed import exactly_printed, star_level
from humboldt.suites.bias.protocol import SCAN_TASKS
from humboldt.suites.bias.tables import PAPERS_CURVE, Summary, curve_of, rules_of, size_name, summarise
from humboldt.suites.cells import Cell, OverviewEntry
from humboldt.suites.plots import mean_and_interval, named

if TYPE_CHECKING:
    from humboldt.suites.bias.suite import Bias


def glance(cells: Sequence[Cell]) -> OverviewEntry | None:
    """Returns the rule that most fitting members follow in each task, if more follow it than follow no rule."""
    words, bars = [], []
    for cell in cells:
        summary = summarise(cell)
        if not summary.counted or not summary.agreeing:
            continue
        rule = max(summary.agreeing, key=lambda name: summary.agreeing[name])
        count = summary.agreeing[rule]
        follows = f"{rule} {count}/{summary.counted}" if count else "none of the rules"
        undecided = summary.counted - sum(summary.agreeing.values())  # members that follow no rule
        words.append((place_of(cell), follows, rule if count > undecided else "–"))
        bars.append((f"{place_of(cell)}: {follows}", count / summary.counted))
    if not words:
        return None
    about = "Of the members that fit, the rule that most follow: " + "; ".join(f"{a}: {b}" for a, b, _ in words)
    return OverviewEntry(text=", ".join(dict.fromkeys(rule for _, _, rule in words)), about=about, bars=tuple(bars))


def place_of(cell: Cell) -> str:
    """Returns task and size: `count_or_memorization, l = 40`."""
    size, kernel, *varied = cell.place
    name = size_name(cell.task)
    parts = [f"{name} = {size}"] * bool(name) + [f"width {kernel}"] * bool(kernel)
    parts += [f"{key} {value:g}" for key, value in varied]
    return ", ".join([cell.task, *parts])


def figures(suite: "Bias", cells: Sequence[Cell]) -> list[AnyFigure]:
    """Returns agreement, accuracy, description length, its course by block, and the curve of Figure 3."""
    summaries = [(cell, summarise(cell)) for cell in cells]
    drawn = [
        _agreement(suite, summaries),
        _accuracy(suite, summaries),
        _lengths(suite, summaries),
        _course(suite, cells),
        _speed(suite, cells),
    ]
    return [figure for figure in drawn if figure is not None]


def _agreement(suite: "Bias", summaries: Sequence[tuple[Cell, Summary]]) -> Figure | None:
    rows: list[dict[str, Any]] = []
    for cell, summary in summaries:
        if cell.task in SCAN_TASKS:  # they have accuracies instead
            continue
        for rule, count in summary.agreeing.items() if summary.counted else ():
            interval, beside = wilson(count, summary.counted), exactly_printed(cell, rule, "FPA")
            row = {
                **named(suite, cell.model),
                "task": place_of(cell),
                "x": rule,
                "value": count / summary.counted,
            }
            row |= {"members": summary.counted, **({} if beside is None else {"published": beside})}
            rows.append(row if interval is None else {**row, "low": interval.low, "high": interval.high})
    return _bars(suite, "agreement", "Which rule is followed", _AGREEMENT, rows, "Share of fitting members", (0.0, 1.0))


def _accuracy(suite: "Bias", summaries: Sequence[tuple[Cell, Summary]]) -> Figure | None:
    """Shows accuracies for SCAN, where no member is expected to follow a rule everywhere."""
    rows: list[dict[str, Any]] = []
    for cell, summary in summaries:
        for rule, value in summary.accuracy.items() if cell.task in SCAN_TASKS else ():
            beside = exactly_printed(cell, rule, "accuracy")
            row = {**named(suite, cell.model), "task": place_of(cell), "x": rule, "value": value}
            rows.append(row | {"members": summary.members, **({} if beside is None else {"published": beside})})
    return _bars(suite, "accuracy", "How often a rule is followed", _ACCURACY, rows, "Share of outputs", (0.0, 1.0))


def _lengths(suite: "Bias", summaries: Sequence[tuple[Cell, Summary]]) -> Figure | None:
    rows: list[dict[str, Any]] = []
    for cell, summary in summaries:
        lengths = summary.lengths.everyone if summary.lengths is not None else None
        for each in lengths.rules if lengths is not None else ():
            beside = exactly_printed(cell, each.rule, "L")
            row = {**named(suite, cell.model), "task": place_of(cell), "x": each.rule, "value": each.bits}
            row |= {"members": lengths.seeds if lengths else 0, **({} if beside is None else {"published": beside})}
            if lengths is not None and lengths.lowest == each.rule and lengths.lowest_p is not None:
                is_preferred = lengths.preferred(star_level(cell)) == each.rule
                mark = "lower than every other rule" if is_preferred else "not significant"
                row["test"] = f"p = {lengths.lowest_p:.2g}, {mark}"
            ends = () if each.interval is None else (each.interval.low, each.interval.high)
            rows.append({**row, **{key: end / math.log(2) for key, end in zip(("low", "high"), ends, strict=False)}})
    return _bars(suite, "description-length", "Description length", _LENGTH, rows, "Bits", None)


_AGREEMENT = (
    "Of the members that fit the training set, the share that follows a rule everywhere, with its Wilson interval."
)
_ACCURACY = "The share of hold-out inputs whose whole output is that of a rule, mean over members."
_LENGTH = (
    "Mean description length of the hold-out examples under each rule, with a 95% bootstrap interval; the "
    "lowest rule is preferred. Point at a bar for the paired t-test against the other rules."
)


def _bars(
    suite: "Bias",
    name: str,
    title: str,
    about: str,
    rows: list[dict[str, Any]],
    y: str,
    domain: tuple[float, float] | None,
) -> Figure | None:
    if not rows:
        return None
    order = tuple(dict.fromkeys(row["x"] for row in rows))
    has_paper = " A bar across marks the paper's number." if any("published" in row for row in rows) else ""
    x = Axis("x", "Rule", "category", order=order)
    return Figure(
        name=name,
        title=title,
        about=about + has_paper,
        kind=Kind.BARS,
        rows=tuple(rows),
        x=x,
        y=Axis("value", y, domain=domain),
        order=tuple(contender.title for contender in suite.contenders.values()),
        panel="task",
    )


def _course(suite: "Bias", cells: Sequence[Cell]) -> Figure | None:
    """Shows the nats of each block of examples, after training on the earlier blocks."""
    rows: list[dict[str, Any]] = []
    for cell in cells:
        values: dict[tuple[str, int], list[float]] = {}
        for scores in cell.scores:
            for result in scores.results:
                if result.state is not State.FINISHED:
                    continue
                for rule in rules_of(cell) if not result.member["block"] else [result.member["rule"]]:
                    if f"nats_{rule}" in result.measures:
                        place = rule, result.member["block"]
                        values.setdefault(place, []).append(result.measures[f"nats_{rule}"])
        if len({block for _, block in values}) < 2:
            continue
        model = named(suite, cell.model)
        for row in mean_and_interval(values):
            rule, block = row.pop("x")
            panel = f"{place_of(cell)}, {model['model']}"
            rows.append({**model, "task": panel, "rule": rule, "best": row.pop("value"), "x": block, **row})
    if not rows:
        return None
    return Figure(
        name="course",
        title="Description length, block by block",
        about="The nats of each block of examples, for a learner that was trained on the earlier blocks; mean over "
        "members with a 95% bootstrap interval. A rule that is taken up soon costs little. The paper's Figure 3 is "
        "another curve, the mean over all examples that are left (`--preset figure_3`).",
        kind=Kind.LINES,
        rows=tuple(rows),
        x=Axis("x", "Block"),
        y=Axis("best", "Nats"),
        colour="rule",
        colour_title="Rule",
        panel="task",
    )


def _speed(suite: "Bias", cells: Sequence[Cell]) -> Figure | None:
    """Returns Figure 3: nats of an example that is left, by the number of the rule's examples in training."""
    rows: list[dict[str, Any]] = []
    for cell in cells:
        for point in curve_of(cell):
            ends = {} if point.interval is None else {"low": point.interval.low, "high": point.interval.high}
            row = {**named(suite, cell.model), "task": place_of(cell), "x": point.seen, "best": point.nats}
            rows.append({**row, "members": point.seeds, **ends})
    if not rows:
        return None
    return Figure(
        name="speed",
        title="How soon the rule is taken up",
        about="Nats of each example that is left, for learners trained again with more and more examples of the rule; "
        f"mean over members with a 90% bootstrap interval. {PAPERS_CURVE}",
        kind=Kind.LINES,
        rows=tuple(rows),
        x=Axis("x", "Examples of the rule in training"),
        y=Axis("best", "Nats per example"),
        panel="task",
    )
