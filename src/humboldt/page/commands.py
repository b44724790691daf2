"""Command lines that reproduce a cell, or that fill a cell without results."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from humboldt import settings
from humboldt.core.identity import Member, canonical
from humboldt.errors import HumboldtError
from humboldt.settings import Role, plain
from humboldt.suites import catalogue, plans, suites
from humboldt.suites.base import AbstractSuite
from humboldt.suites.catalogue import OUTSIDE
from humboldt.suites.cells import Cell, SettingGroup

Changes = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Command:
    """A command line, and whether it plans exactly the trainings and members that it was made for."""

    text: str
    is_exact: bool


@dataclass(frozen=True)
class _Planned:
    """The trainings and members that a command plans for one task and model."""

    flats: Mapping[str, Mapping[str, Any]]  # of trainings, by key
    members: frozenset[str]
    protocol: Any = None  # equal for all trainings of a cell, except for swept settings


def of_cell(suite: AbstractSuite, cell: Cell, out: str) -> Command:
    """Returns the command that makes the members of a cell."""
    if catalogue.contender(suite, cell.model).engine == OUTSIDE:
        changes = _of_heading(suite, cell.heading, cell.task, cell.model)
        return Command(_written(suite.name, [cell.task], cell.model, cell.heading.preset, changes, out), is_exact=True)
    wanted = _Planned(
        {scores.training.key: scores.training.flat for scores in cell.scores}, frozenset(map(canonical, cell.members()))
    )
    changes = _of_heading(suite, cell.heading, cell.task, cell.model)
    planned = _planned(suite.name, cell.task, cell.model, cell.heading.preset, changes)
    if planned is not None and planned.flats.keys() != wanted.flats.keys():
        changes = _narrowed(suite, cell, changes, planned)
    if planned is not None:
        of_members = suite.member_settings(planned.protocol, cell.members())
        other = {name: _text(value) for name, value in of_members.items() if getattr(planned.protocol, name) != value}
        changes = tuple({**dict(changes), **other}.items())
    planned = _planned(suite.name, cell.task, cell.model, cell.heading.preset, changes)
    is_exact = planned is not None and planned.flats.keys() == wanted.flats.keys() and planned.members == wanted.members
    return Command(_written(suite.name, [cell.task], cell.model, cell.heading.preset, changes, out), is_exact)


def of_missing(suite: AbstractSuite, heading: SettingGroup, tasks: Sequence[str], model: str, out: str) -> str:
    """Returns the command that fills cells of a heading without results."""
    changes = dict(change for task in tasks for change in _of_heading(suite, heading, task, model))
    return _written(suite.name, tasks, model, heading.preset, tuple(changes.items()), out)


def num_members(suite: AbstractSuite, heading: SettingGroup, task: str, model: str) -> int:
    """Returns the number of members that a cell without results would have."""
    planned = _planned(suite.name, task, model, heading.preset, _of_heading(suite, heading, task, model))
    return 0 if planned is None else len(planned.flats) * len(planned.members)


def _written(suite: str, tasks: Sequence[str], model: str, preset: str, changes: Changes, out: str) -> str:
    if model.startswith(f"{OUTSIDE}/"):  # trained outside Humboldt: its predictions are scored
        words = ["humboldt", "score", suite, *tasks, "PREDICTIONS", "--name", model.partition("/")[2]]
    else:
        words = ["humboldt", "run", suite, *(word for task in tasks for word in ("--task", task)), "--model", model]
    words += ["--preset", preset]
    for key, value in changes:
        words += ["--seeds", value] if key == "seeds" else ["--set", f"{key}={value}"]
    return shlex.join([*words, "--out", out])


def _fields(suite: AbstractSuite, task: str, model: str) -> dict[str, settings.Field]:
    """Returns the settings of a cell, by the names under which trainings store them."""
    classes = catalogue.settings_classes(suite, task, model)
    return {field.stored_name: field for cls in reversed(classes) for field in settings.fields(cls)}


def _of_heading(suite: AbstractSuite, heading: SettingGroup, task: str, model: str) -> Changes:
    known = _fields(suite, task, model)
    return tuple((known[key].name, _text(heading.values[key])) for key, _ in heading.changes if key in known)


@cache
def _planned(suite_name: str, task: str, model: str, preset: str, changes: Changes) -> _Planned | None:
    """Returns the plan of a command; `None` if the command would be refused."""
    suite = suites.get(suite_name)
    try:
        trainings = list(plans.trainings(suite, task, model, catalogue.preset(suite, preset), dict(changes)))
        members: list[Member] = []
        for resolved in trainings[:1]:  # all trainings of a cell have the same members
            members += suite.members(resolved)
    except (HumboldtError, ValueError):
        return None
    flats = {each.training.key: each.training.flat for each in trainings}
    return _Planned(flats, frozenset(map(canonical, members)), trainings[0].protocol if trainings else None)


def _narrowed(suite: AbstractSuite, cell: Cell, changes: Changes, planned: _Planned) -> Changes:
    """Adds the values of settings in which the cell's trainings differ from the planned ones."""
    known, ours = _fields(suite, cell.task, cell.model), [scores.training.flat for scores in cell.scores]
    more = dict(changes)
    for key, field in known.items():
        if key not in ours[0] and not any(key in flat for flat in planned.flats.values()):
            continue
        default = plain(field.default)
        values = list({canonical(flat.get(key, default)): flat.get(key, default) for flat in ours}.values())
        theirs = {canonical(flat.get(key, default)) for flat in planned.flats.values()}
        if {canonical(value) for value in values} != theirs and (len(values) == 1 or field.role is Role.EACH):
            more[field.name] = ",".join(_text(value) for value in values)
    return tuple(more.items())


def _text(value: Any) -> str:
    """Returns a value as the command line reads it.

    >>> _text(1000), _text([1, 40]), _text(None), _text(True), _text(1e-4), _text("zipf")
    ('1000', '1,40', 'none', 'true', '0.0001', 'zipf')
    """
    if isinstance(value, list | tuple):
        return ",".join(map(_text, value))
    return settings.words(value) if value is None or isinstance(value, bool) else str(value)
