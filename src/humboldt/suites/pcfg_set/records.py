"""Values of each member of a cell, the paper's values, and flat records."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from humboldt import published
from humboldt.core.results import Result
from humboldt.measures.accuracy import summarise
from humboldt.report.tables import Record
from humboldt.suites.cells import Cell, MeasureValues
from humboldt.suites.experiments import MemberScore
from humboldt.suites.pcfg_set.protocol import PRINTED_RATE

PRINTED_METRICS = {  # measure -> name in the published table
    "overgeneralisation": "sequence_accuracy",
    "consistency_of_incorrect": "consistency",
    "synonym_distance": "cosine_distance",
    "other_distance": "cosine_distance_to_other_functions",
}

PEAKS = {"overgeneralisation": "primitive", "overgeneralisation_of_all": "all"}  # the exceptions that each counts

DISCARDED = {("remove_first", 0), ("remove_second", 1)}  # functions and the argument that they do not read

Value = Callable[[Result], float | None]


def test_of(cell: Cell) -> str:
    """Returns the test of a cell: its task, or another evaluation of the models trained for `task_accuracy`."""
    name = cell.scores[0].evaluation.name
    return name if cell.task == "task_accuracy" and name != "accuracy" else cell.task


def main_measure(cell: Cell) -> str:
    """Returns the measure that Table 1 shows for the test of a cell."""
    return {"accuracy": "sequence_accuracy", "overgeneralisation": "overgeneralisation"}.get(
        cell.scores[0].evaluation.name, "consistency"
    )


def results(cell: Cell) -> list[Result]:
    """Returns the results that have a score."""
    return [result for scores in cell.scores for result in scores.results if result.measures]


def peak(result: Result | MemberScore, kind: str = "primitive") -> float | None:
    """Returns the highest overgeneralisation of any epoch, or that of the end if no epoch is recorded.

    `kind`: the exceptions that are counted. The paper's number counts those that are a whole item (primitive): the
    released logs, in which its peaks are found, have only multiples of 1/66, and 66 of the 125 exceptions are such.
    """
    epochs = [*result.detail.get("milestones", ()), result.detail.get("in_the_end", {})]
    shares = [epoch["overgeneralised"] for epoch in epochs if "overgeneralised" in epoch]
    return max((share[kind] for share in shares if kind in share), default=None)


def measured(measure: str) -> Value:
    """Returns the function that reads a measure from a member's result."""
    if measure in PEAKS:
        return lambda result: peak(result, PEAKS[measure])
    return lambda result: result.measures.get(measure)


def single_function(function: str, length: int) -> Value:
    """Returns a reader of the accuracy of one function on strings of one length, over its relevant arguments.

    The released data, and so Figure 10, leave out the arguments that remove_first and remove_second discard.
    """

    def value(result: Result) -> float | None:
        counts = [
            (right, items)
            for name, argument, size, right, items in result.detail.get("by_function", ())
            if (name, size) == (function, length) and (name, argument) not in DISCARDED
        ]
        items = sum(items for _, items in counts)
        return sum(right for right, _ in counts) / items if items else None

    return value


def single_functions(cell: Cell) -> dict[str, list[int]]:
    """Returns the lengths of each function in a test of longer strings; empty if stored results have only means."""
    lengths: dict[str, dict[int, None]] = {}
    for result in results(cell):
        for name, _, size, *_ in result.detail.get("by_function", ()):
            lengths.setdefault(name, {})[size] = None
    return {name: sorted(sizes) for name, sizes in lengths.items()}


def part_of(breakdown: str, key: str) -> Value:
    """Returns the function that reads one value of a breakdown from a member's result."""

    def value(result: Result) -> float | None:
        return result.detail.get("score", {}).get("breakdowns", {}).get(breakdown, {}).get(key, {}).get("value")

    return value


def distance_of(measure: str, function: str) -> Value:
    """Returns the function that reads the distance of one word from its synonym, or from the other functions."""
    kept = {"synonym_distance": "synonyms", "other_distance": "others"}[measure]
    return lambda result: result.detail.get(kept, {}).get(function)


def functions_with_distances(cell: Cell) -> list[str]:
    """Returns the functions whose distances are stored, in the order of Table 4 as far as it has them."""
    names = dict.fromkeys(name for result in results(cell) for name in result.detail.get("synonyms", {}))
    printed_order = [row["subset"] for row in published.rows("pcfg_set") if row["paper_table"] == "table_4"]
    order = {name: place for place, name in enumerate(dict.fromkeys(printed_order))}
    return sorted(names, key=lambda name: order.get(name, len(order)))


def steps_of_unrolling(result: Result) -> float | None:
    """Returns the mean number of steps in which a localism item is unrolled: one for each of its functions."""
    shares = result.detail.get("score", {}).get("breakdowns", {}).get("num_functions", {})
    items = sum(share["n"] for share in shares.values())
    return sum(int(number) * share["n"] for number, share in shares.items()) / items if items else None


def values_of(cell: Cell, value: Value) -> list[float]:
    """Returns the value of each member that has one."""
    return [number for number in map(value, results(cell)) if number is not None]


def printed(cell: Cell, measure: str, *, subset: str = "all", table: str = "table_1") -> float | None:
    """Returns the paper's number for a measure of a cell, if it prints one."""
    if cell.task == "overgeneralisation" and cell.place != (PRINTED_RATE,):
        return None
    metric = PRINTED_METRICS.get(measure, measure)
    # Table 4 has one column for distances to other functions, whichever of the two tests a model is trained for.
    test = "substitutivity" if measure == "other_distance" else test_of(cell)
    text = published.lookup(
        "pcfg_set", "mean", paper_table=table, test=test, model=cell.model, metric=metric, subset=subset
    )
    return None if text is None else float(text)


def records(cell: Cell) -> list[Record]:
    """Returns the flat records of one cell: mean and deviation of every measure, and the mean of every breakdown."""
    all_records = []
    setting = setting_of(cell)

    def add(measure: str, where: str, values: Sequence[float], beside: float | None) -> None:
        summary = summarise(values)
        mean = Record(
            suite="pcfg_set",
            task=test_of(cell),
            model=cell.model,
            setting=f"{setting}, {where}" if where else setting,
            measure=measure,
            statistic="mean",
            value=summary.mean,
            members=summary.members,
            published=beside,
        )
        all_records.append(mean)
        if not where and summary.members > 1:
            all_records.append(replace(mean, statistic="std", value=summary.std, published=None))

    main = main_measure(cell)
    names = dict.fromkeys(name for result in results(cell) for name in result.measures)
    peaks = PEAKS if main in PEAKS else ()
    for measure in dict.fromkeys([main, *peaks, *names]):
        if values := values_of(cell, measured(measure)):
            add(measure, "", values, printed_beside(cell, measure))
    for function, lengths in single_functions(cell).items():
        for length in lengths:
            values = values_of(cell, single_function(function, length))
            add("sequence_accuracy", f"function={function}, string_length={length}", values, None)
    for function in functions_with_distances(cell):
        for measure in ("synonym_distance", "other_distance"):
            if values := values_of(cell, distance_of(measure, function)):
                add(measure, f"function={function}", values, printed(cell, measure, subset=function, table="table_4"))
    details = [result.detail.get("score", {}).get("breakdowns", {}) for result in results(cell)]
    keys = dict.fromkeys((by, key) for detail in details for by, shares in detail.items() for key in shares)
    for by, key in keys:
        if values := values_of(cell, part_of(by, key)):
            subset = key.replace(" ", "_")
            beside = printed(cell, main, subset=subset, table="table_2") if by == "pair" else None
            add(main, f"{by}={key}", values, beside)
    return all_records


def setting_of(cell: Cell) -> str:
    """Returns heading and rate of a cell, as in its records."""
    return f"{cell.heading}, rate={cell.place[0]:g}" if cell.place else str(cell.heading)


def measures_of(cell: Cell) -> list[MeasureValues]:
    """Returns the main measure of a cell's test for all members; the paper prints the mean."""
    if test_of(cell) in ("functions", "string_lengths"):
        return []
    measure = main_measure(cell)
    values = tuple(values_of(cell, measured(measure)))
    if not values:
        return []
    return [
        MeasureValues(
            measure=measure,
            setting=setting_of(cell),
            values=values,
            published=printed(cell, measure),
            is_mean=True,
            task=test_of(cell),
        )
    ]


def printed_beside(cell: Cell, measure: str) -> float | None:
    """Returns the paper's number: from Table 1 for the main measure, 4 for distances, 5 for parts of consistency."""
    if measure == main_measure(cell):
        return printed(cell, measure)
    if measure.endswith("_distance"):
        return printed(cell, measure, subset="average", table="table_4")
    subset = "incorrect" if measure == "consistency_of_incorrect" else "all"
    return printed(cell, measure, subset=subset, table="table_5")
