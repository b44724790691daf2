"""In which ways results are not the paper's: data until the last line, where `sentence` words it once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from humboldt.identity import Evaluation, Member, Training, canonical
from humboldt.settings import fields, plain, words

if TYPE_CHECKING:
    from humboldt.suites.base import AbstractSuite


@dataclass(frozen=True)
class Departure:
    """One difference from the paper. `task` and `model` say whose it is.

    `ours` and `papers` are values of the setting `name`; with `is_part`, `ours` are those of the paper's values that
    were tried. A difference that no setting expresses has a `text` instead.
    """

    name: str
    ours: Any = None
    papers: Any = None
    task: str = ""
    model: str = ""
    is_part: bool = False
    text: str = ""

    def __str__(self) -> str:
        """The difference alone.

        >>> print(Departure("steps", 2000, 1_000_000))
        steps 2,000 (paper: 1,000,000)
        >>> print(Departure("hidden_size", (32,), (2, 32, 128), is_part=True))
        only hidden_size 32 (paper: 2, 32, 128)
        """
        if self.text:
            return self.text
        only = "only " if self.is_part else ""
        return f"{only}{self.name} {_values(self.ours)} (paper: {_values(self.papers)})"


def _values(value: Any) -> str:
    if isinstance(value, tuple):  # several values that were tried: a range where they follow each other
        whole = all(isinstance(part, int) and not isinstance(part, bool) for part in value)
        if whole and len(value) > 2 and list(value) == list(range(value[0], value[-1] + 1)):
            return f"{value[0]}..{value[-1]}"
        return ", ".join(map(words, value))
    return words(value)


Part = tuple[Training, Evaluation, Sequence[Member]]
"""Members of one training under one evaluation."""


def departures(suite: "AbstractSuite", parts: Iterable[Part]) -> list[Departure]:
    """Every way in which these are not the paper's. Cells are compared with what the preset `paper` gives them."""
    cells: dict[tuple[str, str], list[Part]] = {}
    for part in parts:
        cells.setdefault((part[0].task, part[0].model), []).append(part)
    all_departures = []
    for (task, model), uses in cells.items():
        all_departures += [replace(each, task=task, model=model) for each in _of_cell(suite, task, model, uses)]
    return all_departures


def _of_cell(suite: "AbstractSuite", task: str, model: str, parts: Sequence[Part]) -> Iterable[Departure]:
    evaluations = dict.fromkeys(evaluation.name for _, evaluation, _ in parts)
    papers = [flat for name in evaluations for flat in suite.expected(task, model, "paper", name)]
    ours = [{**training.flat, **evaluation.setting} for training, evaluation, _ in parts]
    outside = (
        set() if model in suite.contenders else {key for training, _, _ in parts for key in training.setting["model"]}
    )
    for key in dict.fromkeys(key for flat in [*ours, *papers] for key in flat if key not in outside):
        # What is missing was added later, and has its default.
        allowed = _distinct(flat.get(key, _default(suite, task, model, key)) for flat in papers)
        tried = _distinct(flat.get(key, _default(suite, task, model, key)) for flat in ours)
        strange = [value for value in tried if value not in allowed]
        for value in strange:
            yield Departure(key, value, _one_or_all(allowed))
        if not strange and len(tried) < len(allowed):
            yield Departure(key, tuple(tried), tuple(allowed), is_part=True)
    members = [member for _, _, members in parts for member in members]
    if suite.contender(model).engine != "outside":  # of which nobody knows how many were trained
        yield from _of_members(suite.paper_members(task, model), members, told=suite.told_of_members)
    yield from suite.contender(model).departures


def _default(suite: "AbstractSuite", task: str, model: str, key: str) -> Any:
    known = (field for cls in suite.settings_classes(task, model) for field in fields(cls))
    return next((plain(field.default) for field in known if field.stored_name == key), None)


def _of_members(expected: Sequence[Member], members: Sequence[Member], told: Sequence[str]) -> Iterable[Departure]:
    for key in (key for key in (expected[0] if expected else ()) if key not in told):
        ours, papers = _distinct(m.get(key) for m in members), _distinct(m[key] for m in expected)
        if key == "seed" and len(ours) != len(papers):
            yield Departure("seeds", len(ours), len(papers))
        elif sorted(ours, key=str) != sorted(papers, key=str):
            yield Departure(key, tuple(sorted(ours, key=_order)), tuple(sorted(papers, key=_order)))


def _distinct(values: Iterable[Any]) -> list[Any]:
    """Without repetition, in order."""
    return list({canonical(plain(value)): value for value in values}.values())


def _one_or_all(values: Sequence[Any]) -> Any:
    return values[0] if len(values) == 1 else tuple(values)


def _order(value: Any) -> tuple[bool, Any]:
    return isinstance(value, str), value


def sentence(all_departures: Iterable[Departure]) -> str:
    """All departures in words, each once, with whose it is unless it is everybody's; empty if there are none."""
    all_departures = list(all_departures)
    everybody = {(d.task, d.model) for d in all_departures}
    owners: dict[str, list[tuple[str, str]]] = {}
    for departure in all_departures:
        owners.setdefault(str(departure), []).append((departure.task, departure.model))
    by_owner: dict[str, list[str]] = {}
    for text, whose in owners.items():
        by_owner.setdefault(_owner(set(whose), everybody), []).append(text)
    groups = [
        f"{owner}: {', '.join(texts)}" if owner else ", ".join(texts) for owner, texts in sorted(by_owner.items())
    ]
    return f"Not the paper's setting: {'; '.join(groups)}." if groups else ""


def _owner(whose: set[tuple[str, str]], everybody: set[tuple[str, str]]) -> str:
    """Nobody, if it is everybody's; otherwise the models or tasks that have it, or the cells."""
    if whose == everybody:
        return ""
    for part in (1, 0):  # models first
        names, known = {cell[part] for cell in whose}, {cell[part] for cell in everybody}
        if whose == {cell for cell in everybody if cell[part] in names}:
            others = known - names
            return f"all but {', '.join(sorted(others))}" if len(others) < len(names) else ", ".join(sorted(names))
    return ", ".join(" · ".join(cell) for cell in sorted(whose))
