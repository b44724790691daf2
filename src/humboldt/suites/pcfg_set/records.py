"""What a cell says, read from stored results: one value for each member, the paper's value, flat records."""

from collections.abc import Callable, Sequence

from humboldt import published
from humboldt.measures.accuracy import summarise
from humboldt.report.tables import Record
from humboldt.results import Result
from humboldt.suites.cells import Cell, Measured
from humboldt.suites.pcfg_set.protocol import PRINTED_RATE

PRINTED_METRICS = {  # as the published table calls them
    "overgeneralisation": "sequence_accuracy",
    "consistency_of_incorrect": "consistency",
    "synonym_distance": "cosine_distance",
    "other_distance": "cosine_distance_to_other_functions",
}

Value = Callable[[Result], float | None]


def test_of(cell: Cell) -> str:
    """The test that a cell is a score of: the task, or what else was asked of the models of task_accuracy."""
    name = cell.scores[0].evaluation.name
    return name if cell.task == "task_accuracy" and name != "accuracy" else cell.task


def main_measure(cell: Cell) -> str:
    """What Table 1 has of a test."""
    return {"accuracy": "sequence_accuracy", "overgeneralisation": "overgeneralisation"}.get(
        cell.scores[0].evaluation.name, "consistency"
    )


def results(cell: Cell) -> list[Result]:
    """The members that have a score."""
    return [result for scores in cell.scores for result in scores.results if result.measures]


def peak(result: Result, kind: str = "all") -> float | None:
    """The most overgeneralisation of any epoch; that of the end, if it is all that is known."""
    epochs = [*result.detail.get("milestones", ()), result.detail.get("in_the_end", {})]
    shares = [epoch["overgeneralised"] for epoch in epochs if "overgeneralised" in epoch]
    return max((share[kind] for share in shares if kind in share), default=None)


def measured(measure: str) -> Value:
    """How a measure is read from a member's result."""
    if measure == "overgeneralisation":
        return peak
    return lambda result: result.measures.get(measure)


def part_of(breakdown: str, key: str) -> Value:
    """The same for one value of a breakdown."""

    def value(result: Result) -> float | None:
        return result.detail.get("score", {}).get("breakdowns", {}).get(breakdown, {}).get(key, {}).get("value")

    return value


def values_of(cell: Cell, value: Value) -> list[float]:
    """The value of each member that has one."""
    return [number for number in map(value, results(cell)) if number is not None]


def printed(cell: Cell, measure: str, *, subset: str = "all", table: str = "table_1") -> float | None:
    """What the paper has there."""
    if cell.task == "overgeneralisation" and cell.place != (PRINTED_RATE,):
        return None
    metric = PRINTED_METRICS.get(measure, measure)
    # Table 4 has one column for distances to other functions, whichever of the two tests a model is trained for.
    test = "substitutivity" if measure == "other_distance" else test_of(cell)
    criteria = {"paper_table": table, "test": test, "model": cell.model, "metric": metric, "subset": subset}
    found = published.lookup("pcfg_set", "mean", **criteria)
    return None if found is None else float(found)


def records(cell: Cell) -> list[Record]:
    """The flat records of one cell: mean and deviation of every measure, and the mean of every breakdown."""
    found = []
    setting = setting_of(cell)

    def add(measure: str, where: str, values: Sequence[float], beside: float | None) -> None:
        summary = summarise(values)
        about = "pcfg_set", test_of(cell), cell.model, f"{setting}, {where}" if where else setting, measure
        found.append(Record(*about, "mean", summary.mean, summary.members, beside))
        if not where and summary.members > 1:
            found.append(Record(*about, "std", summary.std, summary.members, None))

    main = main_measure(cell)
    names = dict.fromkeys(name for result in results(cell) for name in result.measures)
    for measure in dict.fromkeys([main, *names]):
        if values := values_of(cell, measured(measure)):
            add(measure, "", values, printed_beside(cell, measure))
    details = [result.detail.get("score", {}).get("breakdowns", {}) for result in results(cell)]
    keys = dict.fromkeys((by, key) for detail in details for by, shares in detail.items() for key in shares)
    for by, key in keys:
        if values := values_of(cell, part_of(by, key)):
            subset = key.replace(" ", "_")
            beside = printed(cell, main, subset=subset, table="table_2") if by == "pair" else None
            add(main, f"{by}={key}", values, beside)
    return found


def setting_of(cell: Cell) -> str:
    """Heading and rate of a cell, as its records have them."""
    return f"{cell.heading}, rate={cell.place[0]:g}" if cell.place else str(cell.heading)


def measures_of(cell: Cell) -> list[Measured]:
    """What Table 1 has of a cell's test, of all members; the paper prints the mean."""
    if test_of(cell) in ("functions", "string_lengths"):
        return []
    measure = main_measure(cell)
    values = tuple(values_of(cell, measured(measure)))
    about = measure, setting_of(cell), values, None, printed(cell, measure)
    return [Measured(*about, is_mean=True, task=test_of(cell))] if values else []


def printed_beside(cell: Cell, measure: str) -> float | None:
    """What Table 1 has of a cell's main measure, Table 4 of distances, Table 5 of the parts of consistency."""
    if measure == main_measure(cell):
        return printed(cell, measure)
    if measure.endswith("_distance"):
        return printed(cell, measure, subset="average", table="table_4")
    subset = "incorrect" if measure == "consistency_of_incorrect" else "all"
    return printed(cell, measure, subset=subset, table="table_5")
