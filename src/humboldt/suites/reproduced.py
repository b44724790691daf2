"""Counts, for each published table, how many of its numbers were measured again, and how many of these agree."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from humboldt.arguments import checked_arguments, optional, text
from humboldt.arguments import folder as folder_path
from humboldt.suites import suites
from humboldt.suites.agreement_rules import RULES, Row
from humboldt.suites.published_numbers import PublishedNumber, published_numbers
from humboldt.suites.reading import explained


@dataclass(frozen=True, kw_only=True)
class TableOfThePaper:
    """One published table: how many `numbers` it has, how many were `measured`, `judged` by the rule, and `agree`.

    Numbers that repeat those of another table of the paper are not counted.

    - `not_comparable`: how many are not judged, since ours is lower and the best of fewer members than the paper's.
    - `extended`, `extended_agree`: numbers that were judged at equal lengths of training, for which there is a longer
      training as well, and those of them for which it agrees.
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
    not_comparable: int
    extended: int
    extended_agree: int
    superseded: int
    cost: float | None
    rule: str
    missing: tuple[str, ...]


@checked_arguments(folder=folder_path, suite=optional(text))
def reproduced(folder: str | Path = "reproductions", suite: str | None = None) -> list[TableOfThePaper]:
    """Compares the results of a folder with all published tables, or with those of one suite.

    Results count if their preset is `paper`, with any changes, or if their networks have the paper's sizes. Of several
    results for one number, one of current versions is preferred, then the best (`bias`, `pcfg_set`: the one with the
    fewest departures). Numbers of `chomsky` are judged after the same number of training steps.
    """
    with explained(Path(folder)):
        return [table for name in _compared(suite) for table in _tables(name, published_numbers(Path(folder), name))]


def disagreements(folder: str | Path = "reproductions", suite: str | None = None) -> list[PublishedNumber]:
    """Returns the published numbers with which our results do not agree, each with its likely cause."""
    found = [number for name in _compared(suite) for number, _ in published_numbers(Path(folder), name)]
    return [number for number in found if number.agrees is False]


def by_cause(numbers: Iterable[PublishedNumber]) -> dict[tuple[str, str, str], list[str]]:
    """Returns the numbers of each suite, table and likely cause, as text: task, model, number, ours and the paper's."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for one in numbers:
        ours = one.measured if isinstance(one.measured, str) else f"{one.measured:.4g}"
        text = f"{one.task}, {one.model}, {one.what}: {ours} ({one.published})"
        found.setdefault((one.suite, one.table, one.cause), []).append(text)
    return found


def _compared(suite: str | None) -> list[str]:
    names = [suites.get(suite).name] if suite is not None else suites.names()
    return [name for name in names if name in RULES]


def _tables(suite: str, numbers: Sequence[tuple[PublishedNumber, Row]]) -> Iterator[TableOfThePaper]:
    rule = RULES[suite]
    for table in dict.fromkeys(number.table for number, _ in numbers):
        of_table = [(number, row) for number, row in numbers if number.table == table]
        found = [number for number, _ in of_table if number.measured is not None]
        judged = [number for number in found if number.agrees is not None]
        longer = [number.extended for number in found if number.extended is not None]
        work = {(each.task, each.model, each.setting): each.work for each in found if each.work is not None}
        yield TableOfThePaper(
            suite=suite,
            table=table,
            numbers=len(of_table),
            measured=len(found),
            judged=len(judged),
            agree=sum(number.agrees is True for number in judged),
            not_comparable=sum(not number.is_comparable for number in found),
            extended=len(longer),
            extended_agree=sum(longer),
            superseded=sum(number.superseded for number in found),
            cost=sum(ours for ours, _ in work.values()) / sum(whole for _, whole in work.values()) if work else None,
            rule=rule.in_words if table in rule.judged else "",
            missing=_commands(suite, [row for number, row in of_table if number.measured is None]),
        )


def _commands(suite: str, rows: Sequence[Row]) -> tuple[str, ...]:
    """Returns the commands for rows: those that differ in tasks, in models or in a list of values alone are one."""
    options = [RULES[suite].missing(row) for row in rows]
    joined = _joined_tasks(_joined_values(options, RULES[suite].lists))
    return tuple(dict.fromkeys(_command(suite, each) for each in joined))


def _joined_values(options: Sequence[tuple[str, ...]], lists: Sequence[str]) -> list[tuple[str, ...]]:
    """Joins options that differ only in the value of a setting that takes a list."""
    for name in lists:
        begin, values = f"--set {name}=", dict[tuple[str, ...], dict[str, None]]()
        for each in options:
            others = tuple(begin if option.startswith(begin) else option for option in each)
            own = [option.removeprefix(begin) for option in each if option.startswith(begin)]
            values.setdefault(others, {}).update(dict.fromkeys(own))
        options = [
            tuple(f"{begin}{','.join(own)}" if option == begin else option for option in others)
            for others, own in values.items()
        ]
    return list(options)


def _joined_tasks(options: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
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
    presets = [option for option in options if option.startswith("--preset")] or ["--preset paper"]
    return " ".join(["humboldt run", suite, *presets, *(one for one in options if one and one not in presets)])
