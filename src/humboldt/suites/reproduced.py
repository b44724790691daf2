"""Counts, for each published table, how many of its numbers were measured again, and how many of these agree.

The rule of each suite says which records stand beside which number of the paper, and when the two agree. Rules are
stated before the comparison and judge only what they name: other numbers are counted as measured, and not judged.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from humboldt import published
from humboldt.arguments import checked_arguments, optional, text
from humboldt.arguments import folder as folder_path
from humboldt.core.identity import canonical
from humboldt.report.tables import Record
from humboldt.storage.exports import read_records
from humboldt.suites import plans, suites
from humboldt.suites.agreement_rules import RULES, Row
from humboldt.suites.base import AbstractSuite
from humboldt.suites.cells import Cell, cells_of, sort_results
from humboldt.suites.experiments import Request
from humboldt.suites.reading import explained, stored

PAPERS = ("paper", "table_")  # how presets with the settings of a paper begin
WORK = ("steps", "updates", "epochs")  # settings that are proportional to the time of a training
SEARCHES = ("generations", "population_size", "num_rings")  # the same for searches
SEARCHED = ("mdlrnn",)  # its searches count with any number of generations, which may be nearest to another preset


@dataclass(frozen=True, kw_only=True)
class TableOfThePaper:
    """One published table: how many `numbers` it has, how many were `measured`, `judged` by the rule, and `agree`.

    Numbers that repeat those of another table of the paper are not counted.

    - `superseded`: how many of those measured are only of earlier versions of a task, a model or a measure.
    - `cost`: members times length of training, as a fraction of the paper's for the same cells; `None` if unknown.
    - `missing`: commands that measure what is missing.
    """

    suite: str
    table: str
    numbers: int
    measured: int
    judged: int
    agree: int
    superseded: int
    cost: float | None
    rule: str
    missing: tuple[str, ...]


@dataclass(frozen=True)
class _Found:
    """A record with its origin: whether its version is superseded, and the work of its cell, ours and the paper's."""

    record: Record
    is_superseded: bool
    work: tuple[float, float] | None


@checked_arguments(folder=folder_path, suite=optional(text))
def reproduced(folder: str | Path = "reproductions", suite: str | None = None) -> list[TableOfThePaper]:
    """Compares the results of a folder with all published tables, or with those of one suite.

    Results count if their preset is `paper`, with any changes, or if their networks have the paper's sizes. Of several
    results for one number, one of current versions is preferred, then the best (`bias`, `pcfg_set`: the one with the
    fewest departures).
    """
    names = [suites.get(suite).name] if suite is not None else [name for name in suites.names() if name in RULES]
    tables = []
    with explained(Path(folder)):
        for name in names:
            if name in RULES:
                tables += _tables(name, list(_found(Path(folder), suites.get(name))))
    return tables


def _found(folder: Path, suite: AbstractSuite) -> Iterator[_Found]:
    results = sort_results(suite, stored(folder, suite.name))
    of_versions = (results.cells, False), (cells_of(suite, results.superseded), True)
    for cells, is_superseded in of_versions:
        for heading, under_heading in cells.items():
            for cell in under_heading:
                is_papers = heading.preset.startswith(PAPERS) or _is_of_appendix(suite, cell)
                if not is_papers and not _has_papers_network(suite, cell):
                    continue
                work = _work(suite, cell)
                for record in suite.presentation.records(cell):
                    yield _Found(record, is_superseded, work)
    for _, records in read_records(folder):
        for record in records:
            if record["suite"] == suite.name and record["setting"].startswith(PAPERS):
                known = Record(**{field.name: record[field.name] for field in fields(Record)})
                yield _Found(known, False, _work_of_record(suite, known))


def _has_papers_network(suite: AbstractSuite, cell: Cell) -> bool:
    """Returns whether networks of a cell have the paper's sizes, though another preset is nearest to its settings."""
    if cell.model in SEARCHED:
        return True
    if cell.model not in suite.contenders:
        return False
    training, evaluation = cell.scores[0].training, cell.scores[0].evaluation
    own = training.setting.get("model", {})
    papers = plans.expected(suite, training.task, training.model, "paper", evaluation.name)
    return any(all(flat.get(key) == value for key, value in own.items()) for flat in papers)


def _is_of_appendix(suite: AbstractSuite, cell: Cell) -> bool:
    """Returns whether a cell has a setting that the paper varies in a separate table, though another preset has it as
    well.
    """
    training, evaluation = cell.scores[0].training, cell.scores[0].evaluation
    variation = suite.variation(training) if cell.model in suite.contenders else None
    if variation is None:
        return False
    own = {**training.flat, **evaluation.setting}
    papers = plans.expected(suite, training.task, training.model, "paper", evaluation.name)
    wanted = [{**flat, **variation.settings} for flat in papers]
    return any(all(own.get(key) == value for key, value in flat.items()) for flat in wanted)


def _work(suite: AbstractSuite, cell: Cell) -> tuple[float, float] | None:
    """Returns members times length of training of a cell, and the same for the paper's setting."""
    papers = dict(_papers_work(suite.name, cell.task, cell.model))
    whole = papers.get(canonical(list(cell.place))) or max(papers.values(), default=0.0)
    ours = sum(len(scores.results) * _length(scores.training.flat) for scores in cell.scores)
    return (ours, whole) if whole else None


@cache
def _papers_work(suite: str, task: str, model: str) -> tuple[tuple[str, float], ...]:
    """Returns members times length of training in the paper's setting, for each place of its table."""
    of_suite = suites.get(suite)
    papers: dict[str, float] = {}
    for experiment in plans.plan(of_suite, Request((task,), (model,), "paper")):
        place = canonical(list(of_suite.presentation.place(experiment.training, experiment.evaluations[0])))
        papers[place] = papers.get(place, 0.0) + len(experiment.members) * _length(experiment.training.flat)
    return tuple(papers.items())


@cache
def _papers_members(suite: str, task: str, model: str) -> int:
    return sum(len(e.members) for e in plans.plan(suites.get(suite), Request((task,), (model,), "paper")))


def _work_of_record(suite: AbstractSuite, record: Record) -> tuple[float, float] | None:
    """Returns the numbers of members, ours and the paper's, if nothing else differs from the paper's setting."""
    if "," in record.setting or not isinstance(record.members, int):
        return None
    return float(record.members), float(_papers_members(suite.name, record.task, record.model))


def _length(flat: Mapping[str, Any]) -> float:
    if SEARCHES[0] in flat:
        return math.prod(float(flat.get(name) or 1) for name in SEARCHES)
    return float(next((flat[name] for name in WORK if flat.get(name)), 1))


def _tables(suite: str, found: Sequence[_Found]) -> Iterator[TableOfThePaper]:
    rule = RULES[suite]
    rows = [row for row in published.rows(suite) if row[rule.value] not in ("", "-", "–") and not rule.repeats(row)]
    for table in dict.fromkeys(row["paper_table"] for row in rows):
        of_table = [row for row in rows if row["paper_table"] == table]
        measured, verdicts, old, missing, work = 0, [], 0, list[Row](), dict[Any, tuple[float, float]]()
        for row in of_table:
            beside = [each for each in found if rule.matches(each.record, row) and _is_value(each.record)]
            best = max(beside, key=lambda each: (not each.is_superseded, *rule.prefers(each.record)), default=None)
            if best is None:
                missing.append(row)
                continue
            measured, old = measured + 1, old + best.is_superseded
            record = best.record
            if best.work is not None:
                work[record.task, record.model, record.setting] = best.work
            if table in rule.judged:
                verdicts.append(rule.agrees(record.value, row[rule.value], _smallest_p(found, record)))
        judged = [verdict for verdict in verdicts if verdict is not None]
        yield TableOfThePaper(
            suite=suite,
            table=table,
            numbers=len(of_table),
            measured=measured,
            judged=len(judged),
            agree=sum(judged),
            superseded=old,
            cost=sum(ours for ours, _ in work.values()) / sum(whole for _, whole in work.values()) if work else None,
            rule=rule.in_words if table in rule.judged else "",
            missing=tuple(dict.fromkeys(_command(suite, options) for options in _merged(map(rule.missing, missing)))),
        )


def _is_value(record: Record) -> bool:
    return not record.statistic.startswith("p_if_")


def _smallest_p(found: Sequence[_Found], record: Record) -> float | None:
    """Returns the smallest p of the tests beside a record: how many of the paper's learners fit is not always known."""
    place = record.task, record.model, record.setting, record.measure
    of_tests = [
        float(each.record.value)
        for each in found
        if each.record.statistic.startswith("p_if_")
        and each.record.value is not None
        and place == (each.record.task, each.record.model, each.record.setting, each.record.measure)
    ]
    return min(of_tests, default=None)


def _merged(options: Iterator[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Returns the options of all commands: those that differ in tasks or in models alone are one command."""
    tasks_of: dict[tuple[str, ...], dict[str, None]] = {}
    for task, *rest in options:
        tasks_of.setdefault(tuple(rest), {})[task] = None
    models_of: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for (model, *others), tasks in tasks_of.items():
        models_of.setdefault((tuple(tasks), tuple(others)), []).append(model)
    return [
        (*(f"--task {task}" for task in tasks if task), *models, *others)
        for (tasks, others), models in models_of.items()
    ]


def _command(suite: str, options: Sequence[str]) -> str:
    preset = [] if any(option.startswith("--preset") for option in options) else ["--preset paper"]
    return " ".join(["humboldt run", suite, *preset, *filter(None, options)])
