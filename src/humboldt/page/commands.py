"""Commands for the command line: the one that makes a cell again, and the one that fills a place without results."""

import dataclasses
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from humboldt import settings
from humboldt.errors import HumboldtError
from humboldt.identity import Member, canonical
from humboldt.settings import Role, plain
from humboldt.suites import suites
from humboldt.suites.base import OUTSIDE, AbstractSuite
from humboldt.suites.cells import Cell, Heading

Changes = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Command:
    """A command, and whether it means exactly what it was made for: no training or member more, and none less."""

    text: str
    is_exact: bool


@dataclass(frozen=True)
class _Planned:
    """What a command would do for one task and model."""

    flats: Mapping[str, Mapping[str, Any]]  # of trainings, by key
    members: frozenset[str]


def of_cell(suite: AbstractSuite, cell: Cell, out: str) -> Command:
    """The command that makes the members of a cell."""
    if suite.contender(cell.model).engine == OUTSIDE:
        changes = _of_heading(suite, cell.heading, cell.task, cell.model)
        return Command(_written(suite.name, [cell.task], cell.model, cell.heading.preset, changes, out), is_exact=True)
    wanted = _Planned(
        {scores.training.key: scores.training.flat for scores in cell.scores}, frozenset(map(canonical, cell.members()))
    )
    changes = _of_heading(suite, cell.heading, cell.task, cell.model)
    planned = _planned(suite.name, cell.task, cell.model, cell.heading.preset, changes)
    if planned is not None and planned.flats.keys() != wanted.flats.keys():
        changes = _narrowed(suite, cell, changes, planned)
    changes = _with_members(suite, cell, changes, wanted)
    planned = _planned(suite.name, cell.task, cell.model, cell.heading.preset, changes)
    is_exact = planned is not None and planned.flats.keys() == wanted.flats.keys() and planned.members == wanted.members
    return Command(_written(suite.name, [cell.task], cell.model, cell.heading.preset, changes, out), is_exact)


def of_missing(suite: AbstractSuite, heading: Heading, tasks: Sequence[str], model: str, out: str) -> str:
    """The command that fills places of a heading that have no results."""
    changes = dict(change for task in tasks for change in _of_heading(suite, heading, task, model))
    return _written(suite.name, tasks, model, heading.preset, tuple(changes.items()), out)


def num_members(suite: AbstractSuite, heading: Heading, task: str, model: str) -> int:
    """How many members a place without results would have."""
    planned = _planned(suite.name, task, model, heading.preset, _of_heading(suite, heading, task, model))
    return 0 if planned is None else len(planned.flats) * len(planned.members)


def _written(suite: str, tasks: Sequence[str], model: str, preset: str, changes: Changes, out: str) -> str:
    if model.startswith(f"{OUTSIDE}/"):  # trained elsewhere: its predictions are scored
        words = ["humboldt", "score", suite, *tasks, "PREDICTIONS", "--name", model.partition("/")[2]]
    else:
        words = ["humboldt", "run", suite, *(word for task in tasks for word in ("--task", task)), "--model", model]
    words += ["--preset", preset]
    for key, value in changes:
        words += ["--seeds", value] if key == "seeds" else ["--set", f"{key}={value}"]
    return shlex.join([*words, "--out", out])


def _fields(suite: AbstractSuite, task: str, model: str) -> dict[str, settings.Field]:
    """The settings of a cell, by the names under which trainings store them."""
    classes = suite.settings_classes(task, model)
    return {field.stored_name: field for cls in reversed(classes) for field in settings.fields(cls)}


def _of_heading(suite: AbstractSuite, heading: Heading, task: str, model: str) -> Changes:
    known = _fields(suite, task, model)
    return tuple((known[key].name, _text(heading.values[key])) for key, _ in heading.changes if key in known)


@cache
def _planned(suite_name: str, task: str, model: str, preset: str, changes: Changes) -> _Planned | None:
    """What a command would do; none where it would be refused."""
    suite = suites.get(suite_name)
    try:
        found = list(suite.trainings(task, model, suite.preset(preset), dict(changes)))
        members: list[Member] = []
        for training, protocol in found[:1]:  # which members there are is the same for all trainings of a cell
            members += suite.members(dataclasses.replace(suite.restore(training), protocol=protocol))
    except (HumboldtError, ValueError):
        return None
    return _Planned({training.key: training.flat for training, _ in found}, frozenset(map(canonical, members)))


def _narrowed(suite: AbstractSuite, cell: Cell, changes: Changes, planned: _Planned) -> Changes:
    """With the values of settings in which a cell's trainings are fewer, or others, than those that are planned."""
    known, ours = _fields(suite, cell.task, cell.model), [scores.training.flat for scores in cell.scores]
    more = dict(changes)
    for key, field in known.items():
        if key not in ours[0] and not any(key in flat for flat in planned.flats.values()):
            continue
        default = plain(field.default)
        own = list({canonical(flat.get(key, default)): flat.get(key, default) for flat in ours}.values())
        theirs = {canonical(flat.get(key, default)) for flat in planned.flats.values()}
        if {canonical(value) for value in own} != theirs and (len(own) == 1 or field.role is Role.EACH):
            more[field.name] = ",".join(_text(value) for value in own)
    return tuple(more.items())


def _text(value: Any) -> str:
    """A value as the command line reads it.

    >>> _text(1000), _text([1, 40]), _text(None), _text(True), _text(1e-4), _text("zipf")
    ('1000', '1,40', 'none', 'true', '0.0001', 'zipf')
    """
    if isinstance(value, list | tuple):
        return ",".join(map(_text, value))
    return settings.words(value) if value is None or isinstance(value, bool) else str(value)


def _with_members(suite: AbstractSuite, cell: Cell, changes: Changes, wanted: _Planned) -> Changes:
    """With what decides about members: every candidate that brings what is planned nearer to what there is."""

    def distance(candidate: Changes) -> float:
        planned = _planned(suite.name, cell.task, cell.model, cell.heading.preset, candidate)
        return float("inf") if planned is None else len(planned.members ^ wanted.members)

    best = distance(changes)
    for name, value in _candidates(suite, cell):
        if best == 0:
            break
        candidate = tuple({**dict(changes), name: value}.items())
        if (found := distance(candidate)) < best:
            changes, best = candidate, found
    return changes


def _candidates(suite: AbstractSuite, cell: Cell) -> Iterator[tuple[str, str]]:
    members = cell.members()
    fields = [field for field in settings.fields(suite.protocol) if field.role is Role.MEMBERS]
    for field in fields:
        if isinstance(field.default, bool):
            yield field.name, _text(not field.default)
        elif field.name == "seeds":
            yield field.name, str(len({canonical(member.get("seed")) for member in members}))
        elif isinstance(field.default, tuple):
            # `penalties` decides about `penalty`, `learning_rates` about `learning_rate`.
            for key in members[0] if members else ():
                if key[:-1] in field.name:
                    values = dict.fromkeys(member[key] for member in members if key in member)
                    yield field.name, ",".join(_text(value) for value in values)
        elif isinstance(field.default, int):
            seeds = [member["seed"] for member in members if isinstance(member.get("seed"), int)]
            if seeds:
                yield field.name, str(min(seeds))
