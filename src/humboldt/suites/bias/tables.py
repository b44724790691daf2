"""Results of the suite: agreement and description length for each rule, beside the paper's."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from humboldt import published
from humboldt.languages import tasks
from humboldt.report.tables import Number, Record, Table
from humboldt.report.words import counted
from humboldt.results import State
from humboldt.suites.cells import Cell, Heading, order_of

if TYPE_CHECKING:
    from humboldt.measures.bias import LengthReport
    from humboldt.suites.bias import Bias

MAIN_TABLES = {
    "count_or_memorization": "table_1a",
    "add_or_multiply": "table_1b",
    "hierarchical_or_linear": "table_1c",
    "composition_or_memorization": "table_1d",
    "multiply_by_3": "table_2",
    "scan_jump": "table_7",
}
#: Settings that appendices B and C vary: the table, without its last letter, and the name of the setting there.
VARIED = {
    "num_layers": ("table_3", "n_layer", 1),
    "hidden_size": ("table_4", "hidden", 512),
    "embedding_size": ("table_5", "embedding", 16),
    "dropout": ("table_6", "dropout", 0.5),
}
SEEDS, FEWER_SEEDS = 100, 20  # of Tables 1 and 2; of appendices B, C and E


@dataclass(frozen=True)
class Summary:
    """What the members of one cell say.

    - `fitting`: how many first models fit the training set; none where that was not asked.
    - `agreeing`: for each rule, how many of those that fit agree with it.
    - `without_empty`: the same without the inputs for which a rule has the empty output.
    - `accuracy`: for each rule, the mean share of inputs with its output.
    - `lengths`: description lengths of the seeds that have all; none without such a seed.
    """

    members: int
    fitting: int | None
    agreeing: Mapping[str, int]
    without_empty: Mapping[str, int]
    accuracy: Mapping[str, float]
    lengths: "LengthReport | None"

    @property
    def counted(self) -> int:
        """How many members agreement is counted among."""
        return self.members if self.fitting is None else self.fitting


def rules_of(cell: Cell) -> list[str]:
    """The rules of the cell's task."""
    task: Any = tasks.get(f"bias/{cell.task}")(**cell.scores[0].training.setting.get("task", {}))
    return list(task.rules)


def summarise(cell: Cell) -> Summary:
    """Counts and means over the members of a cell."""
    results = [r for scores in cell.scores for r in scores.results if r.state is State.FINISHED]
    first = [r for r in results if not r.member["block"]]
    knows_who_fits = any("fits" in r.measures for r in first)

    def count(ending: str) -> dict[str, int]:
        names = [(rule, f"agrees_{rule}{ending}") for rule in rules_of(cell)]
        return {r: int(sum(f.measures[n] for f in first)) for r, n in names if all(n in f.measures for f in first)}

    return Summary(
        members=len(first),
        fitting=int(sum(r.measures["fits"] for r in first)) if knows_who_fits else None,
        agreeing=count(""),
        without_empty=count("_without_empty"),
        accuracy={
            rule: sum(f.measures[f"accuracy_{rule}"] for f in first) / len(first) for rule in rules_of(cell) if first
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
    knows = any("fits" in parts["", 0] for parts in complete.values())
    lengths = DescriptionLengths(tuple(complete), tuple(rules), np.array(totals))
    return summarise_lengths(lengths, fits if knows else None)


class Printed(NamedTuple):
    """A published number; with a bound (`>`, `<`) the paper says only on which side of it all of several cells lie."""

    value: float
    bound: str = ""

    def __str__(self) -> str:
        return f"{self.bound}{self.value:.2f}"


def printed(cell: Cell, rule: str, metric: str) -> Printed | None:
    """The published number: that of a variation of appendices B and C, or of the main tables."""
    size, kernel = cell.place
    training = cell.scores[0].training
    criteria = {"model": cell.model, "rule": rule, "metric": metric}
    if cell.task == "scan_jump":
        factor = 1000.0 if metric == "L" else 1.0
        return published_number("table_7", str(kernel) if kernel else "", criteria, factor)
    table = "table_8" if cell.model == "joint_attention" else MAIN_TABLES.get(cell.task, "")
    is_papers = training.model == cell.model  # and not somebody's own model, in whose place this one is asked for
    varied = _varied(cell.model, training.setting["model"]) if is_papers else {}
    if len(varied) > 1:
        return None
    for name, value in varied.items():
        sizes = tasks.get(f"bias/{cell.task}").sizes  # pyright: ignore[reportAttributeAccessIssue]
        if not sizes or size != sizes[1][0]:
            return None
        letter = table[-1]
        return published_number(f"{VARIED[name][0]}{letter}", f"{value:g}", criteria)
    return published_number(table, str(size), {**criteria, "task": cell.task})


def exactly_printed(cell: Cell, rule: str, metric: str) -> float | None:
    """The published number, if there is one and not only a bound."""
    beside = printed(cell, rule, metric)
    return None if beside is None or beside.bound else beside.value


def published_number(table: str, size: str, criteria: Mapping[str, str], factor: float = 1.0) -> Printed | None:
    """A row of the paper may stand for several sizes: `10|20|30|40`."""
    for row in published.rows("find"):
        is_meant = row["paper_table"] == table and all(row[key] == value for key, value in criteria.items())
        if is_meant and size in row["parameter_value"].split("|") and row["value"]:
            return Printed(float(row["value"]) * factor, row["bound"])
    return None


def _varied(model: str, setting: Mapping[str, Any]) -> dict[str, Any]:
    usual = {"embedding_size": 64} if model == "joint_attention" else {}
    return {
        name: setting[name]
        for name, (_, _, value) in VARIED.items()
        if name in setting and setting[name] != usual.get(name, value)
    }


def records(suite: "Bias", cell: Cell) -> list[Record]:
    """The flat records of one cell.

    `FPA-rule` is the share of the fitting members that agree with a rule everywhere; `L-rule` is description length,
    whose `nats` and `bits` are means over all seeds, `fitting` over those that fit the training set.
    """
    from humboldt.measures.bias import fisher, wilson

    summary, found = summarise(cell), []
    size, kernel = cell.place
    name = suite.size_name(cell.task)
    places = [f"{name}={size}"] * bool(name) + [f"kernel_width={kernel}"] * bool(kernel)
    setting = ", ".join([str(cell.heading), *places])

    def add(measure: str, statistic: str, value: float, members: int, beside: float | None = None) -> None:
        found.append(Record("bias", cell.task, cell.model, setting, measure, statistic, value, members, beside))

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
                add(f"FPA-{rule}{ending}", "p", fisher(count, total, beside, _paper_seeds(cell)), total)
    for rule, mean in summary.accuracy.items():
        add(f"accuracy-{rule}", "mean", mean, summary.members, exactly_printed(cell, rule, "accuracy"))
    if summary.lengths is not None:
        everyone, fitting = summary.lengths.everyone, summary.lengths.fitting
        for each in everyone.rules:
            add(f"L-{each.rule}", "nats", each.nats, everyone.seeds, exactly_printed(cell, each.rule, "L"))
            add(f"L-{each.rule}", "bits", each.bits, everyone.seeds)
            if each.interval is not None:
                add(f"L-{each.rule}", "low", each.interval.low, everyone.seeds)
                add(f"L-{each.rule}", "high", each.interval.high, everyone.seeds)
        for each in fitting.rules if fitting is not None else ():
            add(f"L-{each.rule}", "fitting", each.nats, fitting.seeds if fitting else 0)
        if everyone.lowest_p is not None:
            add(f"L-{everyone.lowest}", "p", everyone.lowest_p, everyone.seeds)
    return found


def _paper_seeds(cell: Cell) -> int:
    return (
        20 if _varied(cell.model, cell.scores[0].training.setting["model"]) or cell.model == "joint_attention" else 100
    )


def layout(suite: "Bias", heading: Heading, cells: Sequence[Cell]) -> list[Table]:
    """A table for each task, as the parts of Table 1."""
    return [
        _table(suite, f"bias, {heading}: {task}", [cell for cell in cells if cell.task == task])
        for task in dict.fromkeys(cell.task for cell in cells)
    ]


def _table(suite: "Bias", title: str, cells: Sequence[Cell]) -> Table:
    task = cells[0].task
    rules, name = rules_of(cells[0]), suite.size_name(task)
    metric = "accuracy" if task == "scan_jump" else "FPA"
    summaries = {id(cell): summarise(cell) for cell in cells}
    has_lengths = any(summary.lengths for summary in summaries.values())
    columns = [*([name] if name else []), "Learner", "Seeds", "Fit"]
    for rule in rules:
        columns += [f"{metric}-{rule}", "paper"]
    for rule in rules if has_lengths else ():
        columns += [f"L-{rule}", "paper"]
    rows = []
    order = order_of(suite, cells)
    for cell in sorted(cells, key=lambda cell: (order.index(cell.model), -cell.place[0], cell.place[1])):
        summary, (size, kernel) = summaries[id(cell)], cell.place
        learner = suite.contender(cell.model).title + (f", width {kernel}" if kernel else "")
        row = [*([str(size)] if name else []), learner, str(summary.members or cell.without_score())]
        row.append("–" if summary.fitting is None else f"{summary.fitting}")
        for rule in rules:
            ours, theirs = _agreement(summary, rule, metric), printed(cell, rule, metric)
            exact = exactly_printed(cell, rule, metric)
            row += [
                Number(_shown(ours), cell=cell.key, value=ours, published=exact),
                "–" if theirs is None else str(theirs),
            ]
        for rule in rules if has_lengths else ():
            text, theirs = _length(summary, rule), printed(cell, rule, "L")
            value = float(text.rstrip("*")) if text != "–" else None
            exact = exactly_printed(cell, rule, "L")
            about = {"cell": cell.key, "value": value, "published": exact, "is_solved": text.endswith("*")}
            row += [Number(text, **about, scale=max(1.0, exact or 0.0)), "–" if theirs is None else str(theirs)]
        rows.append(tuple(row))
    return Table(title, tuple(columns), tuple(rows), tuple(_notes(task, metric, list(summaries.values()))))


def _agreement(summary: Summary, rule: str, metric: str) -> float | None:
    if metric == "accuracy":
        return summary.accuracy.get(rule)
    return summary.agreeing[rule] / summary.counted if summary.counted and rule in summary.agreeing else None


def _length(summary: Summary, rule: str) -> str:
    if summary.lengths is None:
        return "–"
    everyone = summary.lengths.everyone
    (mean,) = (each.nats for each in everyone.rules if each.rule == rule)
    return f"{mean:.2f}{'*' if everyone.preferred() == rule else ''}"


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _notes(task: str, metric: str, summaries: Sequence[Summary]) -> list[str]:
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
            f"L: description length in nats, mean over {seeds}; * lower than every other rule (paired t-test, "
            f"p < 0.001).{unit}"
        )
    return notes
