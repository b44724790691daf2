"""Every number of the papers' tables, with the result that stands beside it, and whether the two agree.

The rule of each suite says which records stand beside which number, and when the two agree. Rules are stated before the
comparison and judge only what they name: other numbers are counted as measured, and not judged.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from humboldt import published
from humboldt.core.identity import canonical
from humboldt.errors import UsageError
from humboldt.report.tables import Record
from humboldt.storage.exports import read_records
from humboldt.suites import plans, suites
from humboldt.suites.agreement_rules import RULES, Row, Rule
from humboldt.suites.base import AbstractSuite
from humboldt.suites.cells import Cell, cells_of, sort_results
from humboldt.suites.experiments import Request
from humboldt.suites.reading import stored

PAPERS = ("paper", "table_")  # how presets with the settings of a paper begin
WORK = ("steps", "updates", "epochs")  # settings that are proportional to the time of a training
SEARCHES = ("generations", "population_size", "num_rings")  # the same for searches
SEARCHED = ("mdlrnn",)  # its searches count with any number of generations, which may be nearest to another preset
CAUSES = "causes.json"  # beside the records: what we think of disagreements
NOT_EXPLAINED = "not explained"


@dataclass(frozen=True, kw_only=True)
class PublishedNumber:
    """One number of a published table, and what stands beside it.

    - `task`, `model`, `what`: what it is a number of. `published`: as printed.
    - `measured`: ours; `None` if nothing is on record. `setting`, `members`: of our result.
    - `superseded`: whether our result is of an earlier version of a task, a model or a measure.
    - `agrees`: by the rule; `None` if the rule does not judge this number.
    - `is_comparable`: `False` if ours is lower, and the best of fewer members than the paper's. Then it is not judged.
    - `extended`: whether a longer training agrees, where the number is judged at equal lengths; `None` without one.
    - `cause`: of a disagreement, as far as it is known; otherwise empty.
    - `work`: members times length of training, ours and the paper's; `None` if unknown.
    """

    suite: str
    table: str
    task: str
    model: str
    what: str
    published: str
    measured: float | str | None = None
    setting: str = ""
    members: int | None = None
    superseded: bool = False
    agrees: bool | None = None
    is_comparable: bool = True
    extended: bool | None = None
    cause: str = ""
    work: tuple[float, float] | None = None


@dataclass(frozen=True)
class _Found:
    """A record with its origin: whether its version is superseded, the work of its cell, ours and the paper's, and the
    number of the paper's members.
    """

    record: Record
    is_superseded: bool
    work: tuple[float, float] | None
    papers_members: int


def published_numbers(folder: Path, suite: str) -> list[tuple[PublishedNumber, Row]]:
    """Returns all numbers of a paper that are counted, each with its row of the published table.

    Of several results for one number, one of current versions is preferred, then as the suite's rule says.
    """
    rule, found, causes = RULES[suite], list(_found(folder, suites.get(suite))), _causes(folder)
    rows = [row for row in published.rows(suite) if row[rule.value] not in ("", "-", "–") and not rule.repeats(row)]
    return [(_number(suite, rule, row, found, causes), row) for row in rows]


def _number(
    suite: str, rule: Rule, row: Row, found: Sequence[_Found], causes: Sequence[Mapping[str, Any]]
) -> PublishedNumber:
    task, model, what = rule.names(row)
    number = PublishedNumber(
        suite=suite, table=row["paper_table"], task=task, model=model, what=what, published=row[rule.value]
    )
    beside = [each for each in found if rule.matches(each.record, row) and _is_value(each.record)]
    beside.sort(key=lambda each: (not each.is_superseded, *rule.prefers(each.record)), reverse=True)
    equal = [each for each in beside if rule.is_of_equal_length(each.record)]
    if not beside:
        return number
    (best, *_) = equal or beside
    longer = [_verdict(rule, row, each, found)[0] for each in beside if equal and each not in equal]
    verdict, is_comparable = _verdict(rule, row, best, found)
    record = best.record
    return replace(
        number,
        measured=record.value,
        setting=record.setting,
        members=record.members if isinstance(record.members, int) else None,
        superseded=best.is_superseded,
        agrees=verdict,
        is_comparable=is_comparable,
        extended=next((each for each in longer if each is not None), None),
        cause=_cause(number, causes) if verdict is False else "",
        work=best.work,
    )


def _verdict(rule: Rule, row: Row, found: _Found, all_found: Sequence[_Found]) -> tuple[bool | None, bool]:
    """Returns whether a record agrees with a number, if the rule says so, and whether the two can be compared."""
    if row["paper_table"] not in rule.judged:
        return None, True
    record = found.record
    agrees = rule.agrees(record.value, row[rule.value], _smallest_p(all_found, record))
    members = record.members if isinstance(record.members, int) else found.papers_members
    if agrees is not None and members < found.papers_members and rule.is_lower(record.value, row[rule.value]):
        return None, False
    return agrees, True


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


def _causes(folder: Path) -> list[dict[str, Any]]:
    path = folder / CAUSES
    if not path.is_file():
        return []
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))["causes"]
        if all({"suite", "cause"} <= entry.keys() for entry in entries):
            return entries
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        pass
    raise UsageError(
        f"{path} is not a list of causes: it should be an object with a list `causes`, of objects with at least "
        "`suite` and `cause`."
    )


def is_about(cause: Mapping[str, Any], number: PublishedNumber) -> bool:
    """Returns whether an entry of the file of causes is about a number: each name that it gives has to be the number's,
    or has to list it.
    """
    return all(
        getattr(number, name) in (cause[name] if isinstance(cause[name], list) else [cause[name]])
        for name in ("suite", "table", "task", "model", "what")
        if name in cause
    )


def _cause(number: PublishedNumber, causes: Sequence[Mapping[str, Any]]) -> str:
    return next((str(cause["cause"]) for cause in causes if is_about(cause, number)), NOT_EXPLAINED)


def _found(folder: Path, suite: AbstractSuite) -> Iterator[_Found]:
    results = sort_results(suite, stored(folder, suite.name))
    of_versions = (results.cells, False), (cells_of(suite, results.superseded), True)
    for cells, is_superseded in of_versions:
        for heading, under_heading in cells.items():
            for cell in under_heading:
                is_papers = heading.preset.startswith(PAPERS) or _is_of_appendix(suite, cell)
                if not is_papers and not _has_papers_network(suite, cell):
                    continue
                work, members = _work(suite, cell), _papers_members(suite.name, cell.task, cell.model, cell.place)
                for record in suite.presentation.records(cell):
                    yield _Found(record, is_superseded, work, members)
    for _, records in read_records(folder):
        for record in records:
            if record["suite"] == suite.name and record["setting"].startswith(PAPERS):
                known = Record(**{field.name: record[field.name] for field in fields(Record)})
                members = _papers_members(suite.name, known.task, known.model)
                yield _Found(known, False, _work_of_record(known, members), members)


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
    papers = {place: work for place, (work, _) in _papers_cells(suite.name, cell.task, cell.model)}
    whole = papers.get(canonical(list(cell.place))) or max(papers.values(), default=0.0)
    ours = sum(len(scores.results) * _length(scores.training.flat) for scores in cell.scores)
    return (ours, whole) if whole else None


@cache
def _papers_cells(suite: str, task: str, model: str) -> tuple[tuple[str, tuple[float, int]], ...]:
    """Returns members times length of training, and members, in the paper's setting, for each place of its table."""
    of_suite = suites.get(suite)
    papers: dict[str, tuple[float, int]] = {}
    for experiment in plans.plan(of_suite, Request((task,), (model,), "paper")):
        place = canonical(list(of_suite.presentation.place(experiment.training, experiment.evaluations[0])))
        work, members = papers.get(place, (0.0, 0))
        own = len(experiment.members)
        papers[place] = work + own * _length(experiment.training.flat), members + own
    return tuple(papers.items())


def _papers_members(suite: str, task: str, model: str, place: Sequence[Any] | None = None) -> int:
    """Returns how many members the paper has for a place of its table, or for all; 0 if it has no such place."""
    members = {each: members for each, (_, members) in _papers_cells(suite, task, model)}
    return sum(members.values()) if place is None else members.get(canonical(list(place)), 0)


def _work_of_record(record: Record, papers_members: int) -> tuple[float, float] | None:
    """Returns the numbers of members, ours and the paper's, if nothing else differs from the paper's setting."""
    if "," in record.setting or not isinstance(record.members, int):
        return None
    return float(record.members), float(papers_members)


def _length(flat: Mapping[str, Any]) -> float:
    if SEARCHES[0] in flat:
        return math.prod(float(flat.get(name) or 1) for name in SEARCHES)
    return float(next((flat[name] for name in WORK if flat.get(name)), 1))
