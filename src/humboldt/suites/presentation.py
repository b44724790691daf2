"""The functions that show a suite's results, gathered as data; each has a default."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from humboldt import settings
from humboldt.core.identity import Evaluation, Training
from humboldt.core.results import Scores
from humboldt.report.figures import AnyFigure
from humboldt.report.tables import MissingCell, Record, Table, TableCell, TableEntry
from humboldt.report.words import counted
from humboldt.suites import catalogue, suites
from humboldt.suites.answers import TaskAnswer
from humboldt.suites.cells import Cell, MeasureValues, OverviewEntry, SettingGroup
from humboldt.suites.plots import clouds

if TYPE_CHECKING:
    from humboldt.suites.base import AbstractSuite


def no_place(training: Training, evaluation: Evaluation) -> tuple[Any, ...]:
    """Returns no further key: there is one cell for each task and model."""
    del training, evaluation
    return ()


def measured(cell: Cell) -> list[MeasureValues]:
    """Returns the headline measure of a cell's members."""
    suite = suites.get(cell.suite)
    values = tuple(value for value, _, _ in cell.finished(suite.headline))
    several = len(suite.evaluations(suite.protocol(), cell.task)) > 1
    names = [*map(settings.words, cell.place), *([cell.scores[0].evaluation.name] if several else [])]
    return (
        [MeasureValues(measure=suite.headline, setting=" ".join([str(cell.heading), *names]), values=values)]
        if values
        else []
    )


def records(cell: Cell) -> list[Record]:
    """Returns no records: the statistics of `measured` are added for every suite."""
    del cell
    return []


def layout(suite: "AbstractSuite", heading: SettingGroup, cells: Sequence[Cell]) -> list[Table]:
    """Returns one table of best headline values: a row for each task and evaluation, a column for each model."""
    models = list(dict.fromkeys(cell.model for cell in cells))
    rows: dict[tuple[str, ...], dict[str, TableEntry]] = {}
    for cell in cells:
        values = [value for value, _, _ in cell.finished(suite.headline)]
        place = cell.task, cell.scores[0].evaluation.name, " ".join(map(settings.words, cell.place))
        best = TableCell(value=max(values), form=".3f", cell=cell.key) if values else cell.without_score()
        rows.setdefault(place, {})[cell.model] = best
    lines = tuple(
        (*place, *(of_models.get(model) or MissingCell(place[0], model) for model in models))
        for place, of_models in rows.items()
    )
    titles = [catalogue.contender(suite, model).title for model in models]
    return [Table(f"{suite.name}, {heading}", ("Task", "Evaluation", "", *titles), lines)]


def overview(cells: Sequence[Cell]) -> OverviewEntry | None:
    """Returns the mean over tasks of the best values."""
    suite = suites.get(cells[0].suite)
    best = [(cell.task, values[0].spread.best) for cell in cells if (values := suite.presentation.measured(cell))]
    if not best:
        return None
    mean = sum(value for _, value in best) / len(best)
    return OverviewEntry(f"{mean:.3g}", f"best {suite.headline}, mean of {counted(len(best), 'task')}")


def figures(suite: "AbstractSuite", cells: Sequence[Cell]) -> list[AnyFigure]:
    """Returns one figure for each measure, with a point for each member."""
    return clouds(suite, cells)


def no_figures(suite: "AbstractSuite", cells: Sequence[Cell]) -> list[AnyFigure]:
    """Returns no figures across headings."""
    del suite, cells
    return []


def nothing_shown(training: Training) -> tuple[str, ...]:
    """Returns no settings in addition to `Presentation.shown`."""
    del training
    return ()


@dataclass(frozen=True, kw_only=True)
class Presentation:
    """The functions that show results. Those that lay out many cells are given the suite first.

    - `records`: the numbers of one cell, beside the published ones.
    - `layout`: the cells of one heading in the paper's tables.
    - `measured`: the measures to summarise for a cell, headline first.
    - `overview`: a one-line summary of a model's cells under one heading; `None` if there is nothing to summarise.
    - `figures`: the figures of cells under one heading; `figures_across`: those that need cells of several headings.
    - `place`: values that, with task and model, identify the cell in which a training competes.
    - `shown`: settings that the rows and columns of a table show, so that headings omit them; `shown_of`: further ones
      for one training. `shown_of_members`: the same for settings in which members differ.
    - `answers`: the answers of one model to the question of the suite, for `humboldt bench`; `None` leaves the suite
      out of it.
    """

    records: Callable[[Cell], list[Record]] = records
    layout: Callable[[Any, SettingGroup, Sequence[Cell]], list[Table]] = layout
    measured: Callable[[Cell], list[MeasureValues]] = measured
    overview: Callable[[Sequence[Cell]], OverviewEntry | None] = overview
    figures: Callable[[Any, Sequence[Cell]], list[AnyFigure]] = figures
    figures_across: Callable[[Any, Sequence[Cell]], list[AnyFigure]] = no_figures
    place: Callable[[Training, Evaluation], tuple[Any, ...]] = no_place
    shown: tuple[str, ...] = ()
    shown_of: Callable[[Training], tuple[str, ...]] = nothing_shown
    shown_of_members: tuple[str, ...] = ()
    answers: Callable[[Sequence[Scores]], list[TaskAnswer]] | None = None
