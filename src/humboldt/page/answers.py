"""Answers of models to all suites, for the beginning of a page."""

from collections.abc import Sequence

from humboldt.core.results import Scores
from humboldt.page.content import Answers, Grid
from humboldt.page.grids import grid_of
from humboldt.report.tables import Table
from humboldt.suites import benched, profile
from humboldt.suites.bench import BUDGETS, PREFIX
from humboldt.suites.profile_figure import profile_figure


def answers_of(results: Sequence[Scores], folder: str, reported: Sequence[Scores] = ()) -> list[Answers]:
    """Returns the answers under each bench preset that there are results of, with the references beside them, and with
    reported results."""
    parts = []
    for preset in BUDGETS:
        answers = benched.answers_of(results, preset)
        if not answers:
            continue
        mine = {(each.suite, each.model) for each in answers}
        theirs = benched.answers_of(benched.reference_scores(), preset)
        theirs += benched.answers_of(reported, preset, source=benched.REPORTED)
        beside = [each for each in theirs if (each.suite, each.model) not in mine]
        short, titles = preset.removeprefix(PREFIX), benched.model_title
        parts.append(
            Answers(
                preset=short,
                figure=profile_figure(preset, answers, beside),
                tables=_grids(profile.summary_tables(answers, beside, titles), folder),
                by_task=_grids([profile.task_table(each, titles) for each in answers], folder),
            )
        )
    return parts


def _grids(tables: Sequence[Table], folder: str) -> tuple[Grid, ...]:
    return tuple(grid_of(None, None, table, folder) for table in tables)
