"""Answers of models to all suites, for the beginning of a page."""

from collections.abc import Sequence

from humboldt.core.results import Scores
from humboldt.page.content import Answers, Grid
from humboldt.page.grids import grid_of
from humboldt.report.figures import FAMILY, MODEL, Axis, Figure, Kind
from humboldt.report.tables import Table
from humboldt.suites import benched, catalogue, profile
from humboldt.suites.answers import ModelAnswers
from humboldt.suites.bench import BUDGETS, PREFIX

ABOUT = (
    "Each point is one task: the mean score of a model's members, from the floor (0), which length, position or a "
    "shortcut reach, to perfect (1). Preferences of bias are neither better nor worse, and are in the table."
)


def answers_of(results: Sequence[Scores], folder: str, reported: Sequence[Scores] = ()) -> list[Answers]:
    """Returns the answers under each bench preset that there are results of, with the references beside them, and with
    reported results."""
    parts = []
    for preset in BUDGETS:
        own = benched.answers_of(results, preset)
        if not own:
            continue
        mine = {(each.suite, each.model) for each in own}
        theirs = benched.answers_of(benched.reference_scores(), preset)
        theirs += benched.answers_of(reported, preset, source=benched.REPORTED)
        beside = [each for each in theirs if (each.suite, each.model) not in mine]
        short, titles = preset.removeprefix(PREFIX), benched.model_title
        parts.append(
            Answers(
                preset=short,
                figure=_figure(short, own, beside),
                tables=_grids(profile.summary_tables(own, beside, titles), folder),
                by_task=_grids([profile.task_table(each, titles) for each in own], folder),
            )
        )
    return parts


def _grids(tables: Sequence[Table], folder: str) -> tuple[Grid, ...]:
    return tuple(grid_of(None, None, table, folder) for table in tables)


def _figure(preset: str, own: Sequence[ModelAnswers], beside: Sequence[ModelAnswers]) -> Figure:
    rows = [
        {
            MODEL: benched.model_title(each.model),
            FAMILY: benched.model_title(each.model),
            "suite": each.suite,
            "task": task.task,
            "score": sum(task.scaled) / len(task.scaled),
        }
        for each in (*own, *beside)
        for task in each.tasks
        if task.is_compared and task.values and not each.has_preferences
    ]
    order = tuple(name for name in catalogue.suite_names() if any(row["suite"] == name for row in rows))
    return Figure(
        name=preset,
        title="Scores above the floor, task by task",
        about=ABOUT,
        kind=Kind.POINTS,
        rows=tuple(rows),
        x=Axis("suite", "suite", kind="category", order=order),
        y=Axis("score", "score, from floor to perfect", domain=(0.0, 1.0)),
    )
