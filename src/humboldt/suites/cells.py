"""Which results compete for one place in a table, and under which heading: from stored settings, never from a label."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from humboldt.errors import HumboldtError
from humboldt.identity import Member, Training, canonical, short_hash
from humboldt.measures.statistics import Spread, spread
from humboldt.report.tables import Table
from humboldt.results import Result, Scores, State
from humboldt.settings import plain, words

if TYPE_CHECKING:
    from humboldt.suites.base import AbstractSuite


@dataclass(frozen=True)
class Heading:
    """The preset that results belong to, and in which settings they differ from it: in words, which tell headings
    apart, and as values."""

    preset: str
    changes: tuple[tuple[str, str], ...]
    values: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def __str__(self) -> str:
        """
        >>> print(Heading("quick", (("steps", "100"),)))
        quick, steps=100
        """
        return ", ".join([self.preset, *(f"{key}={value}" for key, value in self.changes)])


@dataclass(frozen=True)
class Cell:
    """All results that compete for one place in a table.

    `place` is what beside task and model tells places apart; `scores` holds one entry for each training.
    """

    suite: str
    heading: Heading
    task: str
    model: str
    place: tuple[Any, ...]
    scores: tuple[Scores, ...]

    @cached_property
    def key(self) -> str:
        """Tells it from all other cells."""
        where = [self.suite, str(self.heading), self.task, self.model, list(self.place)]
        return short_hash([*where, self.scores[0].evaluation.name])

    @property
    def results(self) -> list[Result]:
        """Every member, whatever became of it."""
        return [result for scores in self.scores for result in scores.results]

    def finished(self, measure: str) -> list[tuple[float, Training, Result]]:
        """Every member that has the measure, with its value and its training."""
        return [
            (result.measures[measure], scores.training, result)
            for scores in self.scores
            for result in scores.results
            if result.state is State.FINISHED and measure in result.measures
        ]

    def count(self, state: State) -> int:
        """How many members ended so."""
        return sum(result.state is state for result in self.results)

    def without_score(self) -> str:
        """What stands in a table where no member has a score."""
        counts = {state.value: self.count(state) for state in (State.DIVERGED, State.FAILED)}
        return ", ".join(name for name, count in counts.items() if count) or "–"

    def members(self) -> list[Member]:
        """All members."""
        return [result.member for result in self.results]

    def swept(self, training: Training) -> dict[str, Any]:
        """One training's values of what differs between the trainings of the cell."""
        flat = [scores.training.flat for scores in self.scores]
        return {key: value for key, value in training.flat.items() if any(one.get(key) != value for one in flat)}


@dataclass(frozen=True)
class Measured:
    """What the members of a cell have of one measure, in the unit of the tables; more is better.

    - `setting`: as the records have it.
    - `is_solved`: which values count as success, where the paper says so.
    - `published`: the paper's number, which is its best or, with `is_mean`, its mean.
    - `scale`: the range that values can have. `task`: as the records call it, where that is not the cell's.
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
class Glance:
    """A model in one suite, in a word: for the overview of a page.

    - `text`: the headline. `about`: what it counts, and of which cells.
    - `bars`: for the small picture, numbers from 0 to 1 with what each is.
    """

    text: str
    about: str
    bars: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Sorted:
    """The results of one suite: cells by heading, and what no table can show."""

    cells: dict[Heading, list[Cell]]
    superseded: list[Scores]  # of earlier versions of a task, model or measure: they never compete
    unknown: list[tuple[Scores, str]]  # with what is not known


def sort_results(suite: "AbstractSuite", results: Sequence[Scores]) -> Sorted:
    """Groups results into cells, tasks and models in the suite's order."""
    current, superseded, unknown = [], [], []
    for scores in results:
        try:
            suite.restore(scores.training, scores.evaluation)
            if suite.is_current(scores.training, scores.evaluation):
                current.append((scores, heading_of(suite, scores)))
            else:
                superseded.append(scores)
        except HumboldtError as error:
            unknown.append((scores, str(error)))
    return Sorted(_grouped(suite, current), superseded, unknown)


def cells_of(suite: "AbstractSuite", results: Sequence[Scores]) -> dict[Heading, list[Cell]]:
    """Results that compete with each other, whether or not they are of today's versions."""
    return _grouped(suite, [(scores, heading_of(suite, scores)) for scores in results])


def _grouped(suite: "AbstractSuite", results: Sequence[tuple[Scores, Heading]]) -> dict[Heading, list[Cell]]:
    """Cells by heading, tasks and models in the suite's order."""
    groups: dict[tuple[Any, ...], list[Scores]] = {}
    headings: dict[str, Heading] = {}
    for scores, heading in results:
        training, evaluation = scores.training, scores.evaluation
        headings[str(heading)] = heading
        place = suite.place(training, evaluation)
        key = (str(heading), evaluation.name, training.task, training.model, canonical(list(place)))
        groups.setdefault(key, []).append(scores)
    order_of_tasks, order_of_models = suite.tasks(), order_of(suite, [scores for scores, _ in results])
    cells: dict[Heading, list[Cell]] = {}
    for (title, _, task, model, _), competing in groups.items():
        heading, place = headings[title], suite.place(competing[0].training, competing[0].evaluation)
        cells.setdefault(heading, []).append(Cell(suite.name, heading, task, model, place, tuple(competing)))
    for under_heading in cells.values():
        under_heading.sort(key=lambda c: (order_of_tasks.index(c.task), c.place, order_of_models.index(c.model)))
    return cells


def order_of(suite: "AbstractSuite", results: "Sequence[Scores] | Sequence[Cell]") -> list[str]:
    """Models in the order of tables: the suite's own, then those that were trained elsewhere, by name."""
    named = {one.training.model if isinstance(one, Scores) else one.model for one in results}
    known = suite.models()
    return [*known, *sorted(named - set(known))]


def heading_of(suite: "AbstractSuite", scores: Scores) -> Heading:
    """The preset that explains most of the settings, and what it leaves unexplained, in the order of names."""
    flat = {**scores.training.flat, **scores.evaluation.setting}
    told = suite.told_by(scores.training)
    sweep = suite.sweep(scores.training.task, suite.contender(scores.training.model))
    best: Heading | None = None
    for preset in sorted(suite.presets, key=lambda name: name != "paper"):
        expected = suite.expected(scores.training.task, scores.training.model, preset, scores.evaluation.name)
        changes = []
        for key, value in sorted(flat.items()):
            allowed = [*(one.get(key) for one in expected), *map(plain, sweep.get(key, ()))]
            if key not in told and value not in allowed:
                changes.append((key, words(value).replace(", ", ",")))
        if best is None or len(changes) < len(best.changes):
            best = Heading(preset, tuple(changes), {key: flat[key] for key, _ in changes})
    assert best is not None
    return best


def plain_table(title: str, results: Sequence[Scores], remarks: Sequence[str] = ()) -> Table:
    """Results that fit no table of a paper: one row for each training, measures as they are."""
    measures = sorted({name for scores in results for result in scores.results for name in result.measures})
    rows = []
    for scores in results:
        training, done = scores.training, [r for r in scores.results if r.state is State.FINISHED]
        best = [max((r.measures[m] for r in done if m in r.measures), default=None) for m in measures]
        versions = " ".join(f"{key} {value}" for key, value in sorted(training.versions.items()))
        row = (training.task, training.model, versions, str(len(scores.results)))
        rows.append((*row, *("–" if value is None else f"{value:.4g}" for value in best)))
    columns = ("Task", "Model", "Versions", "Members", *(f"best {name}" for name in measures))
    return Table(title, columns, tuple(rows), tuple(remarks))
