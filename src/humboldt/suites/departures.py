"""Differences between results and the paper's setting, as data; `sentence` puts them into words."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from humboldt.core.identity import Evaluation, Member, Training, canonical
from humboldt.settings import fields, plain
from humboldt.suites import catalogue, plans
from humboldt.suites.experiments import Departure, Variation

if TYPE_CHECKING:
    from humboldt.suites.base import AbstractSuite


Part = tuple[Training, Evaluation, Sequence[Member]]
"""Members of one training under one evaluation."""


def departures(suite: "AbstractSuite", parts: Iterable[Part]) -> list[Departure]:
    """Returns all differences between these parts and the paper. Each cell is compared with its settings in the
    preset `paper`."""
    cells: dict[tuple[str, str], list[Part]] = {}
    for part in parts:
        cells.setdefault((part[0].task, part[0].model), []).append(part)
    all_departures = []
    for (task, model), uses in cells.items():
        all_departures += [replace(each, task=task, model=model) for each in _of_cell(suite, task, model, uses)]
    return all_departures


def _of_cell(suite: "AbstractSuite", task: str, model: str, parts: Sequence[Part]) -> Iterable[Departure]:
    """Yields the departures of a cell. Parts that belong to one table of the paper are compared with that table."""
    groups: dict[str, tuple[Variation | None, list[Part]]] = {}
    for part in parts:
        variation = suite.variation(part[0])
        key = "" if variation is None else canonical(dict(variation.settings))
        groups.setdefault(key, (variation, []))[1].append(part)
    declared = catalogue.contender(suite, model).departures
    for variation, of_table in groups.values():
        of_settings = _of_table(suite, task, model, of_table, variation)
        yield from (each for each in of_settings if each.name not in {known.name for known in declared})
    for known in declared:
        yield from _declared(suite, task, model, parts, known)


def _declared(
    suite: "AbstractSuite", task: str, model: str, parts: Sequence[Part], known: Departure
) -> Iterable[Departure]:
    """Yields a departure that a contender declares, unless all parts have the paper's value of its setting."""
    if known.papers is None:
        yield known
        return
    default = _default(suite, task, model, known.name)
    for value in _distinct({**t.flat, **e.setting}.get(known.name, default) for t, e, _ in parts):
        if value == known.ours:
            yield known
        elif value != known.papers:
            yield Departure(known.name, value, known.papers)


def _of_table(
    suite: "AbstractSuite", task: str, model: str, parts: Sequence[Part], variation: Variation | None
) -> Iterable[Departure]:
    evaluations = dict.fromkeys(evaluation.name for _, evaluation, _ in parts)
    papers = [flat for name in evaluations for flat in plans.expected(suite, task, model, "paper", name)]
    if variation is not None:
        papers = [{**flat, **variation.settings} for flat in papers]
    ours = [{**training.flat, **evaluation.setting} for training, evaluation, _ in parts]
    outside = (
        set() if model in suite.contenders else {key for training, _, _ in parts for key in training.setting["model"]}
    )
    known = {field.stored_name for cls in catalogue.settings_classes(suite, task, model) for field in fields(cls)}
    outside |= {key for training, _, _ in parts for key in training.setting.get("task", {}) if key not in known}
    for key in dict.fromkeys(key for flat in [*ours, *papers] for key in flat if key not in outside):
        # A missing setting was added later and has its default.
        allowed = _distinct(flat.get(key, _default(suite, task, model, key)) for flat in papers)
        tried = _distinct(flat.get(key, _default(suite, task, model, key)) for flat in ours)
        strange = [value for value in tried if value not in allowed]
        for value in strange:
            yield Departure(key, value, _one_or_all(allowed))
        if not strange and len(tried) < len(allowed):
            yield Departure(key, tuple(tried), tuple(allowed), is_part=True)
    members = [member for _, _, members in parts for member in members]
    if catalogue.contender(suite, model).engine != "outside":  # the number of trained members is not known
        expected = plans.paper_members(suite, task, model)
        if variation is not None:
            expected = [member for member in expected if member["seed"] < variation.seeds]
            for key, values in variation.members.items():
                expected = [{**member, key: value} for member in expected for value in values]
        yield from _of_members(expected, members, shown=suite.presentation.shown_of_members)


def _default(suite: "AbstractSuite", task: str, model: str, key: str) -> Any:
    known = (field for cls in catalogue.settings_classes(suite, task, model) for field in fields(cls))
    return next((plain(field.default) for field in known if field.stored_name == key), None)


def _of_members(expected: Sequence[Member], members: Sequence[Member], shown: Sequence[str]) -> Iterable[Departure]:
    for key in (key for key in (expected[0] if expected else ()) if key not in shown):
        ours, papers = _distinct(m.get(key) for m in members), _distinct(m[key] for m in expected)
        if key == "seed" and len(ours) != len(papers):
            yield Departure("seeds", len(ours), len(papers))
        elif sorted(ours, key=str) != sorted(papers, key=str):
            yield Departure(key, tuple(sorted(ours, key=_order)), tuple(sorted(papers, key=_order)))


def _distinct(values: Iterable[Any]) -> list[Any]:
    """Without repetition, in order."""
    simple = int, float, str  # of which there may be as many as members
    return list({(type(v), v) if type(v) in simple else canonical(plain(v)): v for v in values}.values())


def _one_or_all(values: Sequence[Any]) -> Any:
    return values[0] if len(values) == 1 else tuple(values)


def _order(value: Any) -> tuple[bool, Any]:
    return isinstance(value, str), value


def sentence(all_departures: Iterable[Departure], parts: Iterable[Part] = ()) -> str:
    """Puts departures into one sentence: each once, with its cells unless all have it; empty if there are none.

    `parts`: all parts that were compared, including those without departures.
    """
    all_departures = list(all_departures)
    all_cells = {(d.task, d.model) for d in all_departures}
    all_cells |= {(training.task, training.model) for training, _, _ in parts}
    owners: dict[str, list[tuple[str, str]]] = {}
    for departure in all_departures:
        owners.setdefault(str(departure), []).append((departure.task, departure.model))
    by_owner: dict[str, list[str]] = {}
    for text, having in owners.items():
        by_owner.setdefault(_owner(set(having), all_cells), []).append(text)
    groups = [
        f"{owner}: {', '.join(texts)}" if owner else ", ".join(texts) for owner, texts in sorted(by_owner.items())
    ]
    return f"Not the paper's setting: {'; '.join(groups)}." if groups else ""


def _owner(having: set[tuple[str, str]], all_cells: set[tuple[str, str]]) -> str:
    """Returns the models, tasks or cells that share a departure; empty if all cells do."""
    if having == all_cells:
        return ""
    for part in (1, 0):  # models first
        names, known = {cell[part] for cell in having}, {cell[part] for cell in all_cells}
        if having == {cell for cell in all_cells if cell[part] in names}:
            others = known - names
            return f"all but {', '.join(sorted(others))}" if len(others) < len(names) else ", ".join(sorted(names))
    return ", ".join(" · ".join(cell) for cell in sorted(having))
