"""Tables 1 and 2 of Hupkes et al. (2020), ours beside theirs, and what stands behind the numbers."""

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from humboldt.errors import UsageError
from humboldt.measures.accuracy import summarise
from humboldt.measures.pcfg_set import relative_drop, welch_test
from humboldt.report.tables import Missing, Number, Table
from humboldt.report.words import counted
from humboldt.suites.cells import Cell, Heading, order_of
from humboldt.suites.pcfg_set.protocol import PRINTED_RATE
from humboldt.suites.pcfg_set.records import (
    Value,
    main_measure,
    measured,
    part_of,
    peak,
    printed,
    printed_beside,
    results,
    test_of,
    values_of,
)

if TYPE_CHECKING:
    from humboldt.suites.pcfg_set import PcfgSet

PAIRS = ("swap repeat", "append remove_second", "repeat remove_second", "append swap")  # as Table 2 orders them
FIRST_STRING = "First string"


def layout(suite: "PcfgSet", heading: Heading, cells: Sequence[Cell]) -> list[Table]:
    """Table 1; what stands behind its numbers; Table 2; significance; the auxiliary tests."""
    title = f"pcfg_set, {heading}"
    names = [name for name in order_of(suite, cells) if any(cell.model == name for cell in cells)]
    titles = {name: suite.contender(name).title for name in names}
    by_test = _by_test(cells)
    of_table_1 = {test: own for test, own in by_test.items() if test not in ("functions", "string_lengths")}
    found = [_table_1(title, titles, of_table_1)] if of_table_1 else []
    found += _more(title, titles, by_test)
    if "systematicity" in by_test:
        found.append(_table_2(title, titles, by_test["systematicity"]))
    found += _significance(title, titles, of_table_1)
    found += [
        _by_measure(f"{title}: {words}", titles, by_test[test]) for test, words in AUXILIARY.items() if test in by_test
    ]
    return found


AUXILIARY = {
    "functions": "sequence accuracy by outermost function",
    "string_lengths": "sequence accuracy of single functions by length of a string",
}
ORDER = (
    *("task_accuracy", "systematicity", "productivity"),
    *("substitutivity_equally_distributed", "substitutivity_primitive", "localism", "overgeneralisation"),
    *AUXILIARY,
)

Row = Mapping[str, Cell]
"""The cells of one test, by model."""


def _by_test(cells: Sequence[Cell]) -> Mapping[str, Row]:
    """Cells by test, in the order of Table 1; of exceptions at other rates, the rate is part of the name."""
    found: dict[str, dict[str, Cell]] = {}
    for cell in sorted(cells, key=lambda cell: ORDER.index(test_of(cell))):
        name = test_of(cell)
        if cell.place and cell.place != (PRINTED_RATE,):
            name = f"{name}, {100 * cell.place[0]:g}%"
        found.setdefault(name, {})[cell.model] = cell
    return found


def _shown(cell: Cell | None, value: Value, published: float | None = None) -> str:
    values = [] if cell is None else values_of(cell, value)
    if cell is None or not values:
        return "–" if cell is None else cell.without_score()
    summary = summarise(values)
    text = f"{summary.mean:.2f}" + (f" ± {summary.std:.2f}" if summary.members > 1 else "")
    return Number(text, cell=cell.key, value=summary.mean, published=published)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _table_1(title: str, titles: Mapping[str, str], by_test: Mapping[str, Row]) -> Table:
    rows = []
    for test, row in by_test.items():
        cells = [test]
        for name in titles:
            cell = row.get(name)
            measure = "" if cell is None else main_measure(cell)
            theirs = printed(cell, measure) if cell else None
            trained = "task_accuracy" if test == "localism" else test.partition(",")[0]
            ours = Missing("–", task=trained, model=name) if cell is None else _shown(cell, measured(measure), theirs)
            cells += [ours, _number(theirs)]
        baseline = [value for cell in row.values() for value in values_of(cell, measured("first_string"))]
        rows.append((*cells, _number(baseline[0] if baseline else None)))
    columns = ("Test", *itertools.chain(*((words, "paper") for words in titles.values())), FIRST_STRING)
    return Table(title, columns, tuple(rows), tuple(_notes(by_test)))


def _notes(by_test: Mapping[str, Row]) -> list[str]:
    cells = [cell for row in by_test.values() for cell in row.values()]
    counts = {len(results(cell)) for cell in cells} - {0}
    mean = f" Means of {counted(counts, 'member')}." if counts else ""
    notes = [
        "Task accuracy, systematicity, productivity: share of outputs that are right from first to last symbol. "
        "Substitutivity, localism: share of items whose two outputs are equal, right or wrong. Overgeneralisation: "
        f"share of exceptions answered by the rules, in the epoch in which it is highest.{mean} Paper: Table 1.",
        f"{FIRST_STRING}: a model that always answers with the first string argument. It is consistent, but knows no "
        "function.",
    ]
    caps = sorted({cell.scores[0].evaluation.setting["longest_output"] for cell in cells})
    cut = sum(result.detail.get("cut_outputs", 0) for cell in cells for result in results(cell))
    of_tests = [[result for cell in row.values() for result in results(cell)] for row in by_test.values()]
    longer = sum(found[0].detail.get("longer_targets", 0) for found in of_tests if found)
    cap = " or ".join(f"{number:,}" for number in caps)
    notes.append(
        f"Outputs are cut after {cap} symbols. In the tests of accuracy {cut:,} outputs of all members were cut, "
        f"and {longer:,} targets are longer."
    )
    return notes


def _more(title: str, titles: Mapping[str, str], by_test: Mapping[str, Row]) -> list[Table]:
    """What stands behind the numbers of Table 1."""
    parts: list[tuple[str, str, Value, str]] = [
        ("task_accuracy", "items with one function", measured("single_functions"), ""),
        *(
            (test, "of the wrong outputs, pieces of the right one", measured("stops_early"), "")
            for test in ("task_accuracy", "productivity")
        ),
    ]
    for test in ("substitutivity_equally_distributed", "substitutivity_primitive"):
        for measure in ("consistent_correct", "consistent_incorrect", "consistency_of_incorrect"):
            parts.append((test, measure.replace("_", " "), measured(measure), measure))
        parts.append((test, "cosine distance to the synonym", measured("synonym_distance"), "synonym_distance"))
        parts.append((test, "cosine distance to the other functions", measured("other_distance"), "other_distance"))
    for key in ("at most 5", "more than 5"):
        parts.append(("localism", f"longest string fed back: {key}", part_of("intermediate_strings", key), ""))
    for test in by_test:
        if test.startswith("overgeneralisation"):
            parts += [
                (test, f"{kind} exceptions", lambda r, kind=kind: peak(r, kind), "")
                for kind in ("primitive", "complex")
            ]
            parts.append((test, "memorised in the end", measured("memorised"), ""))
    rows = []
    for test, words, value, measure in parts:
        row = by_test.get(test, {})
        cells = [
            _shown(row.get(name), value) if name in row and values_of(row[name], value) else "–" for name in titles
        ]
        if any(text != "–" for text in cells):
            beside = [
                _number(printed_beside(row[name], measure) if measure and name in row else None) for name in titles
            ]
            rows.append((test, words, *itertools.chain(*zip(cells, beside, strict=True))))
    if {"task_accuracy", "productivity"} <= set(by_test):
        rows.append(("productivity", "relative drop from task accuracy", *_drops(titles, by_test)))
    columns = ("Test", "Part", *itertools.chain(*((words, "paper") for words in titles.values())))
    return [Table(f"{title}: parts", columns, tuple(rows))] if rows else []


def _drops(titles: Mapping[str, str], by_test: Mapping[str, Row]) -> list[str]:
    found = []
    for name in titles:
        pair = [by_test[test].get(name) for test in ("task_accuracy", "productivity")]
        ours = [summarise(v).mean for cell in pair if cell and (v := values_of(cell, measured("sequence_accuracy")))]
        theirs = [printed(cell, "sequence_accuracy") for cell in pair if cell]
        found += [_number(_drop(ours)), _number(_drop(theirs))]
    return found


def _drop(pair: Sequence[Any]) -> float | None:
    return relative_drop(*pair) if len(pair) == 2 and None not in pair and pair[0] else None


def _table_2(title: str, titles: Mapping[str, str], row: Row) -> Table:
    rows = []
    for pair in (*PAIRS, "all"):
        value = measured("sequence_accuracy") if pair == "all" else part_of("pair", pair)
        cells = [pair]
        for name in titles:
            cell, subset = row.get(name), pair.replace(" ", "_")
            theirs = printed(cell, "sequence_accuracy", subset=subset, table="table_2") if cell else None
            cells += [_shown(cell, value, theirs), _number(theirs)]
        rows.append(tuple(cells))
    columns = ("Pair", *itertools.chain(*((words, "paper") for words in titles.values())))
    return Table(f"{title}: systematicity by held-out pair", columns, tuple(rows), ("Paper: Table 2.",))


def _significance(title: str, titles: Mapping[str, str], by_test: Mapping[str, Row]) -> list[Table]:
    """Welch's test of every two models, where they have several members."""
    pairs = list(itertools.combinations(titles, 2))
    rows = []
    for test, row in by_test.items():
        cells = [_significant(row.get(first), row.get(second)) for first, second in pairs]
        if any(text != "–" for text in cells):
            rows.append((test, *cells))
    columns = ("Test", *(f"{titles[first]} / {titles[second]}" for first, second in pairs))
    note = (
        "p: how probable so large a difference of the means, or a larger one, would be if there were none; two-sided."
    )
    return [Table(f"{title}: p of Welch's test", columns, tuple(rows), (note,))] if rows else []


def _significant(first: Cell | None, second: Cell | None) -> str:
    if first is None or second is None:
        return "–"
    try:
        p = welch_test(*(values_of(cell, measured(main_measure(cell))) for cell in (first, second))).p
    except (UsageError, ImportError):  # too few members, no spread, or no SciPy
        return "–"
    return f"{p:.3f}" if p >= 0.001 else "<0.001"


def _by_measure(title: str, titles: Mapping[str, str], row: Row) -> Table:
    """One row for each measure of an auxiliary test."""
    names = {name for cell in row.values() for result in results(cell) for name in result.measures}
    names = sorted(names, key=lambda name: (len(name) if name[-1].isdigit() else 0, name))  # length_2 before length_10
    rows = [(name.replace("_", " "), *(_shown(row.get(model), measured(name)) for model in titles)) for name in names]
    return Table(title, ("", *titles.values()), tuple(rows))
