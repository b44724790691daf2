"""Groups results into the cells of tables, by stored settings and never by a label."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from humboldt.core.identity import Member, Training, canonical, short_hash
from humboldt.core.results import Result, Scores, State
from humboldt.errors import HumboldtError
from humboldt.measures.statistics import Spread, spread
from humboldt.report.tables import Table, TableCell, TableEntry
from humboldt.settings import fields, plain, words
from humboldt.suites import catalogue, plans, resolving

if TYPE_CHECKING:
    from humboldt.suites.base import AbstractSuite


@dataclass(frozen=True)
class SettingGroup:
    """The preset that results belong to, and the settings in which they differ from it: as text, which is compared,
    and as values."""

    preset: str
    changes: tuple[tuple[str, str], ...]
    values: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def __str__(self) -> str:
        """
        >>> print(SettingGroup("quick", (("steps", "100"),)))
        quick, steps=100
        """
        return ", ".join([self.preset, *(f"{key}={value}" for key, value in self.changes)])

    def without(self, keys: Iterable[str]) -> "SettingGroup":
        """Returns the group without the changes of some settings."""
        left = [change for change in self.changes if change[0] not in set(keys)]
        return SettingGroup(self.preset, tuple(left), {k: v for k, v in self.values.items() if k not in set(keys)})

    def beyond(self, other: "SettingGroup") -> tuple[tuple[str, str], ...]:
        """Returns the changes that another group does not have."""
        return tuple(change for change in self.changes if change not in other.changes)


@dataclass(frozen=True, kw_only=True)
class Cell:
    """All results that compete for one place in a table.

    `place` distinguishes cells of one task and model; `scores` holds one entry for each training.
    """

    suite: str
    heading: SettingGroup
    task: str
    model: str
    place: tuple[Any, ...]
    scores: tuple[Scores, ...]

    @cached_property
    def key(self) -> str:
        """Unique key of this cell."""
        where = [self.suite, str(self.heading), self.task, self.model, list(self.place)]
        return short_hash([*where, self.scores[0].evaluation.name])

    @property
    def results(self) -> list[Result]:
        """The results of all members, in any state."""
        return [result for scores in self.scores for result in scores.results]

    def finished(self, measure: str) -> list[tuple[float, Training, Result]]:
        """Returns the value, training and result of every finished member that has the measure."""
        return [
            (result.measures[measure], scores.training, result)
            for scores in self.scores
            for result in scores.results
            if result.state is State.FINISHED and measure in result.measures
        ]

    def count(self, state: State) -> int:
        """Returns the number of members in a state."""
        return sum(result.state is state for result in self.results)

    def without_score(self) -> TableEntry:
        """Returns the entry of a table for a cell without scores."""
        if self.count(State.DIVERGED) == len(self.results) > 1:
            return "all diverged"
        counts = {state.value: self.count(state) for state in (State.DIVERGED, State.FAILED)}
        return ", ".join(name for name, count in counts.items() if count) or TableCell()

    def members(self) -> list[Member]:
        """Returns all members."""
        return [result.member for result in self.results]

    def swept(self, training: Training) -> dict[str, Any]:
        """Returns a training's values of the settings in which the trainings of the cell differ."""
        flat = [scores.training.flat for scores in self.scores]
        return {key: value for key, value in training.flat.items() if any(each.get(key) != value for each in flat)}


@dataclass(frozen=True, kw_only=True)
class MeasureValues:
    """The values of one measure for the members of a cell, in the unit of the tables; higher is better.

    - `setting`: as in the records.
    - `is_solved`: whether a value counts as success, if the paper defines success.
    - `published`: the paper's number: its best or, with `is_mean`, its mean.
    - `scale`: the range of possible values. `task`: the name in the records, if it is not the cell's task.
    """

    measure: str
    setting: str
    values: tuple[float, ...]
    is_solved: Callable[[float], bool] | None = None
    published: float | None = None
    is_mean: bool = False
    scale: float = 1.0
    task: str = ""

    @cached_property
    def spread(self) -> Spread:
        """All statistics of the values."""
        return spread(self.values, self.is_solved)


@dataclass(frozen=True)
class OverviewEntry:
    """One-line summary of a model's cells in one suite, for the overview of a page.

    - `text`: the headline. `about`: how it is counted, and over which cells.
    - `bars`: numbers from 0 to 1 with a label each, for a small bar chart.
    """

    text: str
    about: str
    bars: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Sorted:
    """The results of one suite: cells by heading, and results that no table of the paper can show."""

    cells: dict[SettingGroup, list[Cell]]
    superseded: list[Scores]  # of earlier versions of a task, model or measure: they never compete
    unknown: list[tuple[Scores, str]]  # each with the reason


def sort_results(suite: "AbstractSuite", results: Sequence[Scores]) -> Sorted:
    """Groups results into cells, tasks and models in the suite's order."""
    current, superseded, unknown = [], [], []
    for scores in results:
        try:
            resolving.resolve(suite, scores.training, scores.evaluation)
            if resolving.is_current(suite, scores.training, scores.evaluation):
                current.append((scores, heading_of(suite, scores)))
            else:
                superseded.append(scores)
        except HumboldtError as error:
            unknown.append((scores, str(error)))
    return Sorted(_grouped(suite, current), superseded, unknown)


def cells_of(suite: "AbstractSuite", results: Sequence[Scores]) -> dict[SettingGroup, list[Cell]]:
    """Groups results into cells, whether or not they are of the current versions."""
    return _grouped(suite, [(scores, heading_of(suite, scores)) for scores in results])


def _grouped(suite: "AbstractSuite", results: Sequence[tuple[Scores, SettingGroup]]) -> dict[SettingGroup, list[Cell]]:
    """Returns cells by heading, tasks and models in the suite's order."""
    groups: dict[tuple[Any, ...], list[Scores]] = {}
    headings: dict[str, SettingGroup] = {}
    for scores, heading in results:
        training, evaluation = scores.training, scores.evaluation
        headings[str(heading)] = heading
        place = suite.presentation.place(training, evaluation)
        key = (str(heading), evaluation.name, training.task, training.model, canonical(list(place)))
        groups.setdefault(key, []).append(scores)
    order_of_tasks, order_of_models = catalogue.tasks(suite), order_of(suite, [scores for scores, _ in results])
    all_cells = []
    for (title, _, task, model, _), competing in groups.items():
        heading, place = headings[title], suite.presentation.place(competing[0].training, competing[0].evaluation)
        cell = Cell(suite=suite.name, heading=heading, task=task, model=model, place=place, scores=tuple(competing))
        all_cells.append(cell)
    shared = _shared_headings(all_cells)
    cells: dict[SettingGroup, list[Cell]] = {}
    for cell in all_cells:
        cells.setdefault(shared[cell.model, str(cell.heading)], []).append(cell)
    for under_heading in cells.values():
        under_heading.sort(key=lambda c: (order_of_tasks.index(c.task), c.place, order_of_models.index(c.model)))
    return cells


def _shared_headings(cells: Sequence[Cell]) -> dict[tuple[str, str], SettingGroup]:
    """Returns the heading of the table for each model and heading of cells.

    Models whose trainings agree in all but their own settings, such as sizes, stand in one table. Its heading has the
    settings that all of them share. A model that occurs with several values of its own settings has the first of them
    there, without changes if there is one, and a table for each of the others.
    """
    bases: dict[SettingGroup, dict[str, dict[str, SettingGroup]]] = {}
    for cell in cells:
        of_model = set(cell.scores[0].training.setting.get("model", {}))
        by_model = bases.setdefault(cell.heading.without(of_model), {})
        by_model.setdefault(cell.model, {}).setdefault(str(cell.heading), cell.heading)
    shared = {}
    for by_model in bases.values():
        first = {model: min(groups.values(), key=lambda each: len(each.changes)) for model, groups in by_model.items()}
        some, *others = first.values()
        common = [change for change in some.changes if all(change in other.changes for other in others)]
        keys = [key for key, text in some.changes if (key, text) not in common]
        heading = some.without(keys) if others else some
        for model, groups in by_model.items():
            for title, group in groups.items():
                shared[model, title] = heading if group is first[model] else group
    return shared


def order_of(suite: "AbstractSuite", results: "Sequence[Scores] | Sequence[Cell]") -> list[str]:
    """Returns models in the order of tables: the suite's models, then models from outside by name."""
    named = {item.training.model if isinstance(item, Scores) else item.model for item in results}
    known = catalogue.models(suite)
    return [*known, *sorted(named - set(known))]


def heading_of(suite: "AbstractSuite", scores: Scores) -> SettingGroup:
    """Returns the preset that agrees with most settings, and the settings that differ from it, by name."""
    flat = {**scores.training.flat, **scores.evaluation.setting}
    shown = {*suite.presentation.shown, *suite.presentation.shown_of(scores.training)}
    sweep = suite.sweep(scores.training.task, catalogue.contender(suite, scores.training.model))
    best: SettingGroup | None = None
    is_contender = scores.training.model in suite.contenders
    for preset in sorted(suite.presets, key=lambda name: name != "paper"):
        if is_contender and suite.presets[preset].models is not None:
            continue  # the preset is for other models
        expected = plans.expected(suite, scores.training.task, scores.training.model, preset, scores.evaluation.name)
        changes = []
        for key, value in sorted(flat.items()):
            allowed = [*(settings.get(key) for settings in expected), *map(plain, sweep.get(key, ()))]
            if key not in shown and value not in allowed:
                changes.append((key, words(value).replace(", ", ",")))
        changes += _missing(suite, scores.training, flat, expected)
        if best is None or len(changes) < len(best.changes):
            best = SettingGroup(preset, tuple(changes), {key: flat[key] for key, _ in changes if key in flat})
    assert best is not None
    return best


def _missing(
    suite: "AbstractSuite", training: Training, flat: Mapping[str, Any], expected: Sequence[Mapping[str, Any]]
) -> list[tuple[str, str]]:
    """Returns settings that a preset changes and that are not stored, since they were added later, with defaults."""
    keys = [key for key in (expected[0] if expected else ()) if key not in flat and all(key in e for e in expected)]
    classes = catalogue.settings_classes(suite, training.task, training.model) if keys else ()
    defaults = {f.stored_name: f.default for cls in classes for f in fields(cls) if f.added_later}
    return [(key, words(defaults[key]).replace(", ", ",")) for key in keys if key in defaults]


def plain_table(title: str, results: Sequence[Scores], remarks: Sequence[str] = ()) -> Table:
    """Returns a table for results that fit no table of a paper: one row for each training, raw measures."""
    measures = sorted({name for scores in results for result in scores.results for name in result.measures})
    rows = []
    for scores in results:
        training, done = scores.training, [r for r in scores.results if r.state is State.FINISHED]
        best = [max((r.measures[m] for r in done if m in r.measures), default=None) for m in measures]
        versions = " ".join(f"{key} {value}" for key, value in sorted(training.versions.items()))
        row = (training.task, training.model, versions, TableCell(value=len(scores.results)))
        rows.append((*row, *(TableCell(value=value, form=".4g") for value in best)))
    columns = ("Task", "Model", "Versions", "Members", *(f"best {name}" for name in measures))
    return Table(title, columns, tuple(rows), tuple(remarks))
