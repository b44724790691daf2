"""From results to what a page shows. Nothing here writes HTML."""

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from humboldt import __version__
from humboldt.identity import canonical
from humboldt.page import commands
from humboldt.page.content import Gap, Page, Part, Section, Seen
from humboldt.page.grids import grid_of, recorded
from humboldt.page.provenance import provenance_of
from humboldt.page.spreads import spreads_of
from humboldt.report.words import counted, duration
from humboldt.results import Scores, State
from humboldt.suites import suites
from humboldt.suites.base import PAPER, AbstractSuite
from humboldt.suites.cells import Cell, Heading, Sorted, cells_of, order_of, sort_results
from humboldt.suites.departures import departures
from humboldt.suites.experiments import Request
from humboldt.suites.reading import parts_of, tables_apart, tables_of, unknown_suite_tables

SUPERSEDED = "an earlier version of the task, model or measure: shown apart, never competes"


def collect(
    results: Sequence[Scores], folder: str, records: Sequence[tuple[str, Sequence[Mapping[str, Any]]]] = ()
) -> Page:
    """All that the results have to say. Suites without results are there, too, with the command that gets some.

    `records` are numbers that are known without their members, by the file that they come from.
    """
    names = [name for name in suites.names()]
    strangers = dict.fromkeys(s.training.suite for s in results if s.training.suite not in suites)
    provenance: dict[str, dict[str, Any]] = {}
    seen: dict[str, dict[str, list[Seen]]] = {}
    sections = []
    compared = itertools.count()
    for name in names:
        suite = suites.get(name)
        own = [scores for scores in results if scores.training.suite == name]
        ordered = sort_results(suite, own)
        cells = [cell for under_heading in ordered.cells.values() for cell in under_heading]
        parts = []
        for heading, under_heading in _best_first(ordered.cells):
            parts.append(_part(suite, heading, under_heading, folder, compared))
            provenance |= {cell.key: provenance_of(suite, cell, folder) for cell in under_heading}
        for heading, under_heading in _best_first(_superseded(suite, ordered)):
            part = _part(suite, heading, under_heading, folder, compared)
            parts.append(replace(part, kind="superseded", badge=SUPERSEDED, gaps=()))
            provenance |= {cell.key: provenance_of(suite, cell, folder) for cell in under_heading}
        for family, found in _overview(suite, ordered.cells).items():
            seen.setdefault(family, {})[name] = found
        sections.append(
            Section(
                *(name, suite.paper, suite.question, suite.measure, tuple(parts)),
                across=tuple(suite.figures_across(cells)),
                apart=(
                    *(
                        grid_of(suite, None, table, folder)
                        for table in tables_apart(suite, replace(ordered, superseded=[]))
                    ),
                    *(grid for file, found in records if (grid := recorded(suite, file, found)) is not None),
                ),
                first_command=f"humboldt run {name} --preset quick --out {folder}",
            )
        )
    for name in strangers:
        own = [scores for scores in results if scores.training.suite == name]
        grids = tuple(grid_of(None, None, table, folder) for table in unknown_suite_tables(name, own))
        sections.append(Section(name, "", "A suite that is not installed here", "", (), (), grids, ""))
    members = {canonical([s.training.key, r.member]) for s in results for r in s.results}
    summary = (
        f"{counted(len(members), 'trained member')} in {counted(len({s.training.key for s in results}), 'training')}"
    )
    return Page(
        title="How these models generalise",
        version=__version__,
        folder=folder,
        columns=tuple(names),
        overview=tuple((family, tuple(tuple(by_suite.get(n, ())) for n in names)) for family, by_suite in seen.items()),
        sections=tuple(sections),
        provenance=provenance,
        summary=summary,
    )


def _superseded(suite: AbstractSuite, ordered: Sorted) -> dict[Heading, list[Cell]]:
    """Results of earlier versions of a task, model or measure: cells among themselves, with keys of their own."""
    return {
        heading: [replace(cell, suite=f"{cell.suite}, superseded") for cell in cells]
        for heading, cells in cells_of(suite, ordered.superseded).items()
    }


def _best_first(cells: Mapping[Heading, Sequence[Cell]]) -> list[tuple[Heading, Sequence[Cell]]]:
    """The paper's own setting first, then what departs from it, then other presets; larger ones first."""
    return sorted(cells.items(), key=lambda found: (found[0].preset != PAPER, len(found[0].changes), -len(found[1])))


def _kind(heading: Heading) -> tuple[str, str]:
    """A class of headings, and the badge that says it."""
    if heading.preset != PAPER:
        changed = " with changes" if heading.changes else ""
        return "other", f"preset {heading.preset}{changed}"
    return ("changed", "paper's setting with changes") if heading.changes else ("paper", "the paper's setting")


def _kind_of(suite: AbstractSuite, heading: Heading, cells: Sequence[Cell]) -> tuple[str, str]:
    """The same, of cells under it: with fewer seeds or fewer values of a sweep they are not all that the paper has."""
    kind, badge = _kind(heading)
    if kind == "paper" and any(not departure.text for departure in departures(suite, parts_of(cells))):
        return "changed", "a part of the paper's setting"
    return kind, badge


def _part(suite: AbstractSuite, heading: Heading, cells: Sequence[Cell], folder: str, compared: Iterator[int]) -> Part:
    kind, badge = _kind_of(suite, heading, cells)
    return Part(
        *(str(heading), kind, badge),
        tables=tuple(grid_of(suite, heading, table, folder) for table in tables_of(suite, heading, cells)),
        spreads=spreads_of(suite, cells, compared),
        figures=tuple(suite.figures(heading, cells)),
        gaps=tuple(_gaps(suite, heading, cells, folder)),
    )


def _overview(suite: AbstractSuite, cells: Mapping[Heading, Sequence[Cell]]) -> dict[str, list[Seen]]:
    """By family, each of its networks: for each place of a table the cell that is nearest to the paper's setting, all
    of one kind, so that numbers of a quick preset never stand in for the paper's."""
    found: dict[str, list[Seen]] = {}
    headings = _best_first(cells)
    for model in order_of(suite, [cell for under_heading in cells.values() for cell in under_heading]):
        own = [(heading, cell) for heading, under in headings for cell in under if cell.model == model]
        if not own:
            continue
        first, _ = own[0]
        nearest: dict[tuple[str, str, str], Cell] = {}
        for heading, cell in own:
            place = cell.task, canonical(list(cell.place)), cell.scores[0].evaluation.name
            if _kind(heading)[0] == _kind(first)[0]:
                nearest.setdefault(place, cell)
        glance = suite.glance(list(nearest.values()))
        if glance is not None:
            others = len({str(heading) for heading, _ in own} - {str(cell.heading) for cell in nearest.values()})
            more = f"and {counted(others, 'other setting')} below" if others else ""
            kind, badge = _kind_of(suite, first, list(nearest.values()))
            seen = Seen(suite.contender(model).title, badge, kind, glance, more)
            found.setdefault(suite.family(model), []).append(seen)
    return found


def _gaps(suite: AbstractSuite, heading: Heading, cells: Sequence[Cell], folder: str) -> Iterator[Gap]:
    """What the heading's preset has and these results do not, by model, with the time that others took."""
    done = {(cell.task, cell.model) for cell in cells}
    missing: dict[str, list[str]] = {}
    for task, model in suite.pairs(Request(preset=heading.preset)):
        if (task, model) not in done:
            missing.setdefault(model, []).append(task)
    seconds = _seconds_per_member(cells)
    for model, tasks in missing.items():
        estimate = "not known; `humboldt plan` with the same options measures it"
        if model in seconds:
            each, device = seconds[model]
            total = each * sum(commands.num_members(suite, heading, task, model) for task in tasks)
            estimate = f"about {duration(total)} on {device}, as the same model took for other tasks here"
        text = commands.of_missing(suite, heading, tasks, model, folder)
        yield Gap(suite.contender(model).title, tuple(tasks), text, estimate)


def _seconds_per_member(cells: Sequence[Cell]) -> dict[str, tuple[float, str]]:
    """The mean time of a finished member, and where, by model."""
    times: dict[str, list[tuple[float, str]]] = {}
    for cell in cells:
        for result in cell.results:
            if result.state is State.FINISHED:
                times.setdefault(cell.model, []).append((result.seconds, result.environment.get("device", "")))
    return {
        model: (sum(seconds for seconds, _ in found) / len(found), Counter(d for _, d in found).most_common(1)[0][0])
        for model, found in times.items()
    }
