"""Tables 1 and 2 of Hupkes et al. (2020) with our numbers beside the paper's, and breakdowns of them."""

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from humboldt import published
from humboldt.core.identity import Evaluation, Training
from humboldt.errors import UsageError
from humboldt.measures.accuracy import summarise
from humboldt.measures.pcfg_set import relative_drop, welch_test
from humboldt.report.tables import MissingCell, Table, TableCell, TableEntry
from humboldt.report.words import counted
from humboldt.suites import catalogue
from humboldt.suites.cells import Cell, SettingGroup, order_of
from humboldt.suites.pcfg_set.protocol import PRINTED_RATE
from humboldt.suites.pcfg_set.records import (
    Value,
    distance_of,
    functions_with_distances,
    main_measure,
    measured,
    part_of,
    peak,
    printed,
    printed_beside,
    results,
    single_function,
    single_functions,
    steps_of_unrolling,
    test_of,
    values_of,
)

if TYPE_CHECKING:
    from humboldt.suites.pcfg_set.suite import PcfgSet

PAIRS = ("swap repeat", "append remove_second", "repeat remove_second", "append swap")  # as Table 2 orders them
FIRST_STRING = "First string"
STEPS = "steps of unrolling, mean over items"
STOPS_EARLY = "of the wrong outputs, pieces of the right one"


def place(training: Training, evaluation: Evaluation) -> tuple[Any, ...]:
    """Returns the rate of exceptions; the paper has several."""
    del evaluation
    return (training.setting["task"]["rate"],) if training.task == "overgeneralisation" else ()


def layout(suite: "PcfgSet", heading: SettingGroup, cells: Sequence[Cell]) -> list[Table]:
    """Returns Table 1, the parts of its numbers, Table 2, significance, and the auxiliary tests."""
    title = f"pcfg_set, {heading}"
    names = [name for name in order_of(suite, cells) if any(cell.model == name for cell in cells)]
    titles = {name: catalogue.contender(suite, name).title for name in names}
    by_test = _by_test(cells)
    of_table_1 = {test: row for test, row in by_test.items() if test not in ("functions", "string_lengths")}
    all_tables = [_table_1(title, titles, of_table_1)] if of_table_1 else []
    all_tables += _more(title, titles, by_test)
    if "systematicity" in by_test:
        all_tables.append(_table_2(title, titles, by_test["systematicity"]))
    all_tables += _distances(title, titles, by_test)
    all_tables += _significance(title, titles, of_table_1)
    if "functions" in by_test:
        all_tables.append(_by_measure(f"{title}: {AUXILIARY['functions']}", titles, by_test["functions"]))
    for model, cell in by_test.get("string_lengths", {}).items():
        all_tables.append(_by_length(f"{title}: {AUXILIARY['string_lengths']}, {titles[model]}", cell))
    return all_tables


AUXILIARY = {
    "functions": "sequence accuracy by outermost function",
    "string_lengths": "sequence accuracy of single functions by length of a string",
}
ORDER = (
    "task_accuracy",
    "systematicity",
    "productivity",
    "substitutivity_equally_distributed",
    "substitutivity_primitive",
    "localism",
    "overgeneralisation",
    *AUXILIARY,
)

Row = Mapping[str, Cell]
"""The cells of one test, by model."""


def _by_test(cells: Sequence[Cell]) -> Mapping[str, Row]:
    """Returns cells by test, in the order of Table 1. The name of exceptions at other rates includes the rate."""
    by_test: dict[str, dict[str, Cell]] = {}
    for cell in sorted(cells, key=lambda cell: ORDER.index(test_of(cell))):
        name = test_of(cell)
        if cell.place and cell.place != (PRINTED_RATE,):
            name = f"{name}, {100 * cell.place[0]:g}%"
        by_test.setdefault(name, {})[cell.model] = cell
    return by_test


def _shown(cell: Cell | None, value: Value, published: float | None = None) -> TableEntry:
    values = [] if cell is None else values_of(cell, value)
    if cell is None or not values:
        return TableCell() if cell is None else cell.without_score()
    summary = summarise(values)
    deviation = summary.std if summary.members > 1 else None
    return TableCell(value=summary.mean, form=".2f", deviation=deviation, cell=cell.key, published=published)


def _number(value: float | None) -> TableCell:
    return TableCell(value=value, form=".2f")


def _table_1(title: str, titles: Mapping[str, str], by_test: Mapping[str, Row]) -> Table:
    rows = []
    for test, row in by_test.items():
        cells: list[TableEntry] = [test]
        for name in titles:
            cell = row.get(name)
            measure = "" if cell is None else main_measure(cell)
            theirs = printed(cell, measure) if cell else None
            trained = "task_accuracy" if test == "localism" else test.partition(",")[0]
            ours = MissingCell(trained, name) if cell is None else _shown(cell, measured(measure), theirs)
            cells += [ours, _number(theirs)]
        baseline = [value for cell in row.values() for value in values_of(cell, measured("first_string"))]
        chance = _number(baseline[0] if baseline else None)
        if test.startswith("overgeneralisation"):
            everything = [_shown(row.get(name), measured("overgeneralisation_of_all")) for name in titles]
            rows.append((*cells, TableCell()))
            rows.append(
                (f"{test}: all exceptions", *itertools.chain(*((entry, TableCell()) for entry in everything)), chance)
            )
        else:
            rows.append((*cells, chance))
    columns = ("Test", *itertools.chain(*((words, "paper") for words in titles.values())), FIRST_STRING)
    return Table(title, columns, tuple(rows), tuple(_notes(by_test)))


def _notes(by_test: Mapping[str, Row]) -> list[str]:
    cells = [cell for row in by_test.values() for cell in row.values()]
    counts = {len(results(cell)) for cell in cells} - {0}
    mean = f" Means of {counted(counts, 'member')}." if counts else ""
    notes = [
        "Task accuracy, systematicity, productivity: share of outputs that are right from first to last symbol. "
        "Substitutivity, localism: share of items whose two outputs are equal, right or wrong. Overgeneralisation: "
        "share of the primitive exceptions (those that are a whole item) answered by the rules, in the epoch in which "
        f"it is highest; the paper counts these.{mean} Paper: Table 1.",
        f"{FIRST_STRING}: a model that always answers with the first string argument. It is consistent, but knows no "
        "function.",
    ]
    caps = sorted({cell.scores[0].evaluation.setting["longest_output"] for cell in cells})
    cut = sum(result.detail.get("cut_outputs", 0) for cell in cells for result in results(cell))
    of_tests = [[result for cell in row.values() for result in results(cell)] for row in by_test.values()]
    longer = sum(of_test[0].detail.get("longer_targets", 0) for of_test in of_tests if of_test)
    cap = " or ".join(f"{number:,}" for number in caps)
    notes.append(
        f"Outputs are cut after {cap} symbols. In the tests of accuracy {cut:,} outputs of all members were cut, "
        f"and {longer:,} targets are longer."
    )
    return notes


def _more(title: str, titles: Mapping[str, str], by_test: Mapping[str, Row]) -> list[Table]:
    """Returns a table of the parts that the numbers of Table 1 consist of."""
    parts: list[tuple[str, str, Value, str]] = [
        ("task_accuracy", "items with one function", measured("single_functions"), ""),
        *((test, STOPS_EARLY, measured("stops_early"), "") for test in ("task_accuracy", "productivity")),
    ]
    for test in ("substitutivity_equally_distributed", "substitutivity_primitive"):
        for measure in ("consistent_correct", "consistent_incorrect", "consistency_of_incorrect"):
            parts.append((test, measure.replace("_", " "), measured(measure), measure))
        parts.append((test, "cosine distance to the synonym", measured("synonym_distance"), "synonym_distance"))
        parts.append((test, "cosine distance to the other functions", measured("other_distance"), "other_distance"))
    for key in ("at most 5", "more than 5"):
        parts.append(("localism", f"longest string fed back: {key}", part_of("intermediate_strings", key), ""))
    parts.append(("localism", STEPS, steps_of_unrolling, ""))
    for test in by_test:
        if test.startswith("overgeneralisation"):
            parts.append((test, "complex exceptions", lambda r: peak(r, "complex"), ""))
            parts.append((test, "memorised in the end", measured("memorised"), ""))
    rows = []
    for test, words, value, measure in parts:
        cells = by_test.get(test, {})
        with_values = {name: cell for name, cell in cells.items() if values_of(cell, value)}
        if with_values:
            row: list[TableEntry] = [test, words]
            for name in titles:
                beside = printed_beside(cells[name], measure) if measure and name in cells else None
                beside = in_text(test, name, "stops_early") if words == STOPS_EARLY and name in cells else beside
                beside = in_text(test, "", "steps") if words == STEPS and name in cells else beside
                row += [_shown(with_values.get(name), value), _number(beside)]
            rows.append(tuple(row))
    for test in ("systematicity", "productivity"):
        if {"task_accuracy", test} <= set(by_test):
            rows.append((test, "relative drop from task accuracy", *_drops(titles, by_test, test)))
    columns = ("Test", "Part", *itertools.chain(*((words, "paper") for words in titles.values())))
    return [Table(f"{title}: parts", columns, tuple(rows))] if rows else []


def _drops(titles: Mapping[str, str], by_test: Mapping[str, Row], test: str) -> list[TableCell]:
    drops = []
    for name in titles:
        pair = [by_test[one].get(name) for one in ("task_accuracy", test)]
        ours = [summarise(v).mean for cell in pair if cell and (v := values_of(cell, measured("sequence_accuracy")))]
        theirs = in_text(test, name, "relative_drop") if all(pair) else None
        drops += [_number(_drop(ours)), _number(theirs)]
    return drops


def in_text(test: str, model: str, measure: str) -> float | None:
    """Returns a number that the paper prints in its text and in no table."""
    text = published.lookup("pcfg_set_text", "value", test=test, model=model, measure=measure)
    return None if text is None else float(text)


def _drop(pair: Sequence[Any]) -> float | None:
    return relative_drop(*pair) if len(pair) == 2 and None not in pair and pair[0] else None


def _table_2(title: str, titles: Mapping[str, str], row: Row) -> Table:
    rows = []
    for pair in (*PAIRS, "all"):
        value = measured("sequence_accuracy") if pair == "all" else part_of("pair", pair)
        cells: list[TableEntry] = [pair]
        for name in titles:
            cell, subset = row.get(name), pair.replace(" ", "_")
            theirs = printed(cell, "sequence_accuracy", subset=subset, table="table_2") if cell else None
            cells += [_shown(cell, value, theirs), _number(theirs)]
        rows.append(tuple(cells))
    columns = ("Pair", *itertools.chain(*((words, "paper") for words in titles.values())))
    return Table(f"{title}: systematicity by held-out pair", columns, tuple(rows), ("Paper: Table 2.",))


SUBSTITUTIVITY = ("substitutivity_equally_distributed", "substitutivity_primitive")


def _distances(title: str, titles: Mapping[str, str], by_test: Mapping[str, Row]) -> list[Table]:
    """Returns Table 4: cosine distances of each function with a synonym, and their averages."""
    rows = []
    tests = {test: by_test[test] for test in SUBSTITUTIVITY if test in by_test}
    names = dict.fromkeys(
        name for row in tests.values() for cell in row.values() for name in functions_with_distances(cell)
    )
    for function in (*names, "average") if names else ():
        for test, row in tests.items():
            for measure, words in (("synonym_distance", "its synonym"), ("other_distance", "the other functions")):
                value = measured(measure) if function == "average" else distance_of(measure, function)
                entries: list[TableEntry] = [function, test.removeprefix("substitutivity_"), words]
                for name in titles:
                    cell = row.get(name)
                    theirs = printed(cell, measure, subset=function, table="table_4") if cell else None
                    entries += [_shown(cell, value, theirs), _number(theirs)]
                rows.append(tuple(entries))
    columns = (
        "Function",
        "Synonyms",
        "Distance to",
        *itertools.chain(*((words, "paper") for words in titles.values())),
    )
    note = (
        "Cosine distances of embeddings. Paper: Table 4, whose distances to other functions are means over both tests."
    )
    return [Table(f"{title}: distances of words", columns, tuple(rows), (note,))] if rows else []


def _significance(title: str, titles: Mapping[str, str], by_test: Mapping[str, Row]) -> list[Table]:
    """Returns p-values of Welch's test for every pair of models with several members."""
    pairs = list(itertools.combinations(titles, 2))
    rows = []
    for test, row in by_test.items():
        cells = [_significant(row.get(first), row.get(second)) for first, second in pairs]
        if any(cell.value is not None for cell in cells):
            printed_p = (_printed_p(test, *pair) for pair in pairs)
            rows.append((test, *itertools.chain(*zip(cells, printed_p, strict=True))))
    columns = ("Test", *itertools.chain(*((f"{titles[first]} / {titles[second]}", "paper") for first, second in pairs)))
    note = (
        "p: how probable so large a difference of the means, or a larger one, would be if there were none; two-sided. "
        "The paper's text gives orders of magnitude."
    )
    return [Table(f"{title}: p of Welch's test", columns, tuple(rows), (note,))] if rows else []


def _significant(first: Cell | None, second: Cell | None) -> TableCell:
    if first is None or second is None:
        return TableCell()
    try:
        p = welch_test(*(values_of(cell, measured(main_measure(cell))) for cell in (first, second))).p
    except (UsageError, ImportError):  # too few members, no spread, or no SciPy
        return TableCell()
    return TableCell(value=p, form=".3f") if p >= 0.001 else TableCell(value="<0.001")


def _printed_p(test: str, first: str, second: str) -> TableCell:
    """Returns the order of magnitude of p in the paper's text."""
    text = published.lookup("pcfg_set_text", "value", test=test, model=f"{first} / {second}", measure="p")
    return TableCell() if text is None else TableCell(value=f"~{text}")


def _by_length(title: str, cell: Cell) -> Table:
    """Returns Figure 10 as a table: a row for each length, a column for each function, and the measures `length_n`."""
    functions = single_functions(cell)
    names = {name for result in results(cell) for name in result.measures if name.startswith("length_")}
    rows = []
    for length in sorted(int(name.removeprefix("length_")) for name in names):
        of_functions = [_shown(cell, single_function(name, length)) for name in functions]
        rows.append((TableCell(value=length), *of_functions, _shown(cell, measured(f"length_{length}"))))
    note = (
        "Functions: without the arguments that remove_first and remove_second discard, as Figure 10 of the paper. All: "
        "over all functions and arguments, these too."
    )
    return Table(title, ("Length", *functions, "All"), tuple(rows), (note,))


def _by_measure(title: str, titles: Mapping[str, str], row: Row) -> Table:
    """Returns a table with one row for each measure of an auxiliary test."""
    names = {name for cell in row.values() for result in results(cell) for name in result.measures}
    names = sorted(names, key=lambda name: (len(name) if name[-1].isdigit() else 0, name))  # length_2 before length_10
    rows = [(name.replace("_", " "), *(_shown(row.get(model), measured(name)) for model in titles)) for name in names]
    return Table(title, ("", *titles.values()), tuple(rows))
