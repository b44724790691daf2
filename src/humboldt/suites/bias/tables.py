"""Agreement and description length for each rule, beside the paper's numbers."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from humboldt.core.identity import Evaluation, Training
from humboldt.core.results import State
from humboldt.languages import tasks
from humboldt.report.tables import Record, Table, TableCell, TableEntry
from humboldt.report.words import counted
from humboldt.suites import catalogue
from humboldt.suites.bias.printed import (
    Printed,
    exactly_printed,
    fits_of_the_paper,
    printed,
    star_level,
    varied_at_first_size,
)
from humboldt.suites.bias.protocol import SCAN_TASKS
from humboldt.suites.bias.scoring import LEFT
from humboldt.suites.cells import Cell, MeasureValues, SettingGroup, order_of

if TYPE_CHECKING:
    from humboldt.measures.bias import CurvePoint, LengthReport
    from humboldt.suites.bias.suite import Bias


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Counts and means over the members of one cell.

    - `members`: number of first models, which were trained only on the training set.
    - `fitting`: how many of them fit the training set; `None` if that was not measured.
    - `agreeing`: for each rule, how many of those that fit agree with it.
    - `without_empty`: the same without the inputs for which a rule has the empty output.
    - `accuracy`: for each rule, the mean share of inputs with its output.
    - `lengths`: description lengths of the seeds with all blocks; `None` if there is no such seed.
    """

    members: int
    fitting: int | None
    agreeing: Mapping[str, int]
    without_empty: Mapping[str, int]
    accuracy: Mapping[str, float]
    lengths: "LengthReport | None"

    @property
    def counted(self) -> int:
        """Number of members among which agreement is counted."""
        return self.members if self.fitting is None else self.fitting


def rules_of(cell: Cell) -> list[str]:
    """Returns the rules of the cell's task."""
    task: Any = tasks.get(f"bias/{cell.task}")(**cell.scores[0].training.setting.get("task", {}))
    return list(task.rules)


def summarise(cell: Cell) -> Summary:
    """Returns counts and means over the members of a cell."""
    results = [r for scores in cell.scores for r in scores.results if r.state is State.FINISHED]
    first = [r for r in results if not r.member["block"]]
    has_fits = any("fits" in r.measures for r in first)

    def count(ending: str) -> dict[str, int]:
        names = [(rule, f"agrees_{rule}{ending}") for rule in rules_of(cell)]
        return {r: int(sum(f.measures[n] for f in first)) for r, n in names if all(n in f.measures for f in first)}

    return Summary(
        members=len(first),
        fitting=int(sum(r.measures["fits"] for r in first)) if has_fits else None,
        agreeing=count(""),
        without_empty=count("_without_empty"),
        accuracy={
            rule: sum(f.measures[f"accuracy_{rule}"] for f in first) / len(first)
            for rule in rules_of(cell)
            if first and all(f"accuracy_{rule}" in f.measures for f in first)
        },
        lengths=_lengths(cell, results),
    )


def _lengths(cell: Cell, results: Sequence[Any]) -> "LengthReport | None":
    import numpy as np

    from humboldt.measures.bias import DescriptionLengths, num_blocks
    from humboldt.measures.bias import summarise as summarise_lengths

    rules = rules_of(cell)
    task: Any = tasks.get(f"bias/{cell.task}")(**cell.scores[0].training.setting.get("task", {}))
    needed = {("", 0), *((rule, block) for rule in rules for block in range(1, num_blocks(task)))}
    by_seed: dict[int, dict[tuple[str, int], Mapping[str, float]]] = {}
    for result in results:
        member = result.member
        by_seed.setdefault(member["seed"], {})[member["rule"], member["block"]] = result.measures
    complete = {seed: parts for seed, parts in sorted(by_seed.items()) if needed <= set(parts)}
    if not complete:
        return None
    totals = [
        [math.fsum(p.get(f"nats_{rule}", 0.0) for p in parts.values()) for rule in rules] for parts in complete.values()
    ]
    fits = {seed: bool(parts["", 0].get("fits", 1.0)) for seed, parts in complete.items()}
    has_fits = any("fits" in parts["", 0] for parts in complete.values())
    lengths = DescriptionLengths(tuple(complete), tuple(rules), np.array(totals))
    return summarise_lengths(lengths, fits if has_fits else None)


def curve_of(cell: Cell) -> "tuple[CurvePoint, ...]":
    """Returns the curve of Figure 3: nats per remaining example, by the number of the rule's examples in training.

    Empty for cells with description lengths.
    """
    from humboldt.measures.bias import per_example_curve

    rule, values = rules_of(cell)[0], dict[int, list[list[float]]]()
    for scores in cell.scores:
        setting = scores.training.setting
        for result in scores.results if setting.get("curve_block") else ():
            if result.state is State.FINISHED and f"{LEFT}{rule}" in result.measures:
                # Of composition_or_memorization, M examples of the rule are in the training set.
                seen = setting["task"].get("M", 0) + result.member["block"] * setting["curve_block"]
                values.setdefault(seen, []).append([result.measures[f"{LEFT}{rule}"]])
    return per_example_curve(values)


def size_name(task: str) -> str:
    """Returns the setting in which the rows of a task's table differ; empty if there is none."""
    sizes = tasks.get(f"bias/{task}").sizes  # pyright: ignore[reportAttributeAccessIssue]
    return sizes[0] if sizes else ""


def _kernel(training: Training) -> int:
    """Returns the kernel width if the paper's table has a row for each, else 0."""
    is_swept = training.task in SCAN_TASKS and training.model == "cnn_s2s"
    return training.setting["model"]["kernel_width"] if is_swept else 0


def place(training: Training, evaluation: Evaluation) -> tuple[Any, ...]:
    """Returns the size of the task, the kernel width, and a setting of Tables 3 to 6, in which rows of the paper's
    tables differ."""
    del evaluation
    varied = varied_at_first_size(training)
    size = training.setting.get("task", {}).get(size_name(training.task), 0)
    return (size, _kernel(training), *([varied] if varied else []))


def shown_of(training: Training) -> tuple[str, ...]:
    """Returns the settings in which the rows of a table differ."""
    return (size_name(training.task), *(["kernel_width"] if _kernel(training) else []))


def nothing_measured(cell: Cell) -> list[MeasureValues]:
    """Returns no values: the records have shares of members with intervals, not a number for each member."""
    del cell
    return []


def records(cell: Cell) -> list[Record]:
    """Returns the flat records of one cell.

    `FPA-rule` is the share of the fitting members that agree with a rule everywhere; `L-rule` is description length,
    whose `nats` and `bits` are means over all seeds, `fitting` over those that fit the training set (in nats, as `low`
    and `high`). The paper's lengths are beside `bits`, the unit of its code. `p_if_21_fit` is the p of
    Fisher's test against the paper's share, if 21 of its learners fit the training set.
    """
    from humboldt.measures.bias import fisher, wilson

    summary, all_records = summarise(cell), []
    size, kernel, *varied = cell.place
    name = size_name(cell.task)
    places = [f"{name}={size}"] * bool(name) + [f"kernel_width={kernel}"] * bool(kernel)
    places += [f"{key}={value:g}" for key, value in varied]
    setting = ", ".join([str(cell.heading), *places])

    def add(measure: str, statistic: str, value: float, members: int, beside: float | None = None) -> None:
        all_records.append(
            Record(
                suite="bias",
                task=cell.task,
                model=cell.model,
                setting=setting,
                measure=measure,
                statistic=statistic,
                value=value,
                members=members,
                published=beside,
            )
        )

    for point in curve_of(cell):
        for statistic, value in _statistics_of(point).items():
            add(f"nats left-{rules_of(cell)[0]}, seen={point.seen}", statistic, value, point.seeds)
    if summary.members and summary.fitting is not None:
        add("fits", "share", summary.fitting / summary.members, summary.members)
    for counts, ending in ((summary.agreeing, ""), (summary.without_empty, ", without empty outputs")):
        for rule, count in counts.items() if summary.counted else ():
            beside, total = exactly_printed(cell, rule, "FPA"), summary.counted
            interval = wilson(count, total)
            add(f"FPA-{rule}{ending}", "share", count / total, total, beside)
            if interval is not None:
                add(f"FPA-{rule}{ending}", "low", interval.low, total)
                add(f"FPA-{rule}{ending}", "high", interval.high, total)
            if beside is not None:
                for fit in fits_of_the_paper(cell, rule):
                    add(f"FPA-{rule}{ending}", f"p_if_{fit}_fit", fisher(count, total, beside, fit), total)
    for rule, mean in summary.accuracy.items():
        add(f"accuracy-{rule}", "mean", mean, summary.members, exactly_printed(cell, rule, "accuracy"))
    if summary.lengths is not None:
        everyone, fitting = summary.lengths.everyone, summary.lengths.fitting
        for each in everyone.rules:
            add(f"L-{each.rule}", "bits", each.bits, everyone.seeds, exactly_printed(cell, each.rule, "L"))
            add(f"L-{each.rule}", "nats", each.nats, everyone.seeds)
            if each.interval is not None:
                add(f"L-{each.rule}", "low", each.interval.low, everyone.seeds)
                add(f"L-{each.rule}", "high", each.interval.high, everyone.seeds)
        for each in fitting.rules if fitting is not None else ():
            add(f"L-{each.rule}", "fitting", each.nats, fitting.seeds if fitting else 0)
        if everyone.lowest_p is not None:
            add(f"L-{everyone.lowest}", "p", everyone.lowest_p, everyone.seeds)
    return all_records


def _statistics_of(point: "CurvePoint") -> dict[str, float]:
    ends = {} if point.interval is None else {"low": point.interval.low, "high": point.interval.high}
    return {"mean": point.nats, **ends}


def layout(suite: "Bias", heading: SettingGroup, cells: Sequence[Cell]) -> list[Table]:
    """Returns a table for each task, as the parts of Table 1, and curves as in Figure 3."""
    tables = [
        _table(suite, f"bias, {heading}: {task}", [cell for cell in cells if cell.task == task])
        for task in dict.fromkeys(cell.task for cell in cells)
    ]
    return [*tables, *_curves(suite, heading, cells)]


def _curves(suite: "Bias", heading: SettingGroup, cells: Sequence[Cell]) -> list[Table]:
    """Returns Figure 3 as a table: a row for each number of examples, a column for each learner."""
    titled = [(catalogue.contender(suite, cell.model).title, curve_of(cell)) for cell in cells]
    curves = {title: {point.seen: point for point in points} for title, points in titled if points}
    rows = [
        (
            TableCell(value=seen),
            *(TableCell(value=own[seen].nats if seen in own else None, form=".3f") for own in curves.values()),
        )
        for seen in sorted({seen for own in curves.values() for seen in own})
    ]
    if not rows:
        return []
    seeds = counted({point.seeds for own in curves.values() for point in own.values()}, "seed")
    notes = (f"Means over {seeds}.", PAPERS_CURVE)
    return [
        Table(f"bias, {heading}: nats per example that is left", ("Examples of the rule", *curves), tuple(rows), notes)
    ]


#: Figure 3 prints no numbers; this summarises its description in appendix F.
PAPERS_CURVE = (
    "Paper (Figure 3, which prints no numbers): CNN-s2s is almost at zero after 20 examples; LSTM-s2s no att. begins "
    "above the Transformer, is below it after 120, and almost at zero after 600; the Transformer hardly falls."
)


def _table(suite: "Bias", title: str, cells: Sequence[Cell]) -> Table:
    task = cells[0].task
    rules, name = rules_of(cells[0]), size_name(task)
    metric = "accuracy" if task in SCAN_TASKS else "FPA"
    summaries = {id(cell): summarise(cell) for cell in cells}
    has_lengths = any(summary.lengths for summary in summaries.values())
    columns = [*([name] if name else []), "Learner", "Seeds", "Fit"]
    for rule in rules:
        columns += [f"{metric}-{rule}", "paper"]
    for rule in rules if has_lengths else ():
        columns += [f"L-{rule}, bits", "paper"]
    rows = []
    order = order_of(suite, cells)
    for cell in sorted(cells, key=lambda cell: (order.index(cell.model), -cell.place[0], cell.place[1:])):
        summary, (size, kernel, *varied) = summaries[id(cell)], cell.place
        learner = catalogue.contender(suite, cell.model).title + (f", width {kernel}" if kernel else "")
        learner = ", ".join([learner, *(f"{key} {value:g}" for key, value in varied)])
        row: list[TableEntry] = [TableCell(value=size), learner] if name else [learner]
        row.append(TableCell(value=summary.members) if summary.members else cell.without_score())
        row.append(TableCell(value=summary.fitting))
        for rule in rules:
            ours, exact = _agreement(summary, rule, metric), exactly_printed(cell, rule, metric)
            row.append(TableCell(value=ours, form=".2f", cell=cell.key, published=exact))
            row.append(_printed_entry(printed(cell, rule, metric)))
        for rule in rules if has_lengths else ():
            row += [_length(cell, summary, rule), _printed_entry(printed(cell, rule, "L"))]
        rows.append(tuple(row))
    levels = {star_level(cell) for cell in cells}
    return Table(title, tuple(columns), tuple(rows), tuple(_notes(task, metric, list(summaries.values()), levels)))


def _agreement(summary: Summary, rule: str, metric: str) -> float | None:
    if metric == "accuracy":
        return summary.accuracy.get(rule)
    return summary.agreeing[rule] / summary.counted if summary.counted and rule in summary.agreeing else None


def _length(cell: Cell, summary: Summary, rule: str) -> TableCell:
    """Returns the entry for a description length in bits, as the paper's code prints it, starred as in its table."""
    exact = exactly_printed(cell, rule, "L")
    bits, is_preferred = None, False
    if summary.lengths is not None:
        everyone = summary.lengths.everyone
        (bits,) = (each.bits for each in everyone.rules if each.rule == rule)
        is_preferred = everyone.preferred(star_level(cell)) == rule
    return TableCell(
        value=bits,
        form=".2f",
        mark="*" if is_preferred else "",
        cell=cell.key,
        published=exact,
        scale=max(1.0, exact or 0.0),
        is_solved=is_preferred,
    )


def _printed_entry(number: Printed | None) -> TableEntry:
    """Returns the entry for a published number. A lower bound is text, so that a column with one is aligned to the
    left; upper bounds are aligned as numbers, like a B-index of `<1`."""
    if number is None:
        return TableCell()
    if number.bound:
        return str(number) if number.bound == ">" else TableCell(value=str(number))
    return TableCell(value=number.value, form=".2f")


def _notes(task: str, metric: str, summaries: Sequence[Summary], levels: Iterable[float]) -> list[str]:
    if metric == "accuracy":
        notes = ["accuracy: the share of hold-out inputs whose whole output is the rule's, mean over seeds."]
    else:
        notes = [
            "FPA: of the learners that fit the training set, the share that follows the rule for every hold-out input."
        ]
    without_empty = [s for s in summaries if s.without_empty and s.counted]
    if without_empty:
        notes.append(
            "At l = 10 one rule has the empty output for the empty input, which the released code cannot generate. "
            "Without that input: "
            + "; ".join(
                ", ".join(f"{rule} {count / s.counted:.2f}" for rule, count in s.without_empty.items())
                for s in without_empty
            )
            + "."
        )
    lengths = [summary.lengths for summary in summaries if summary.lengths is not None]
    if lengths:
        seeds = counted({each.everyone.seeds for each in lengths}, "seed")
        unit = "" if task != "scan_jump" else " The paper's are printed in thousands."
        notes.append(
            f"L: description length in bits, as the released code prints it, mean over {seeds}; * lower than every "
            f"other rule (paired t-test, p < {' or '.join(f'{level:g}' for level in sorted(levels))}, as in the "
            f"paper's table).{unit}"
        )
    return notes
