"""Makes the content of a page from results. Nothing here writes HTML."""

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from humboldt import __version__
from humboldt.core.identity import canonical
from humboldt.core.results import Scores, State
from humboldt.page import commands
from humboldt.page.answers import answers_of
from humboldt.page.content import Gap, Page, Part, Section, Seen
from humboldt.page.grids import grid_of, recorded
from humboldt.page.provenance import provenance_of
from humboldt.page.spreads import spreads_of
from humboldt.report.words import counted, duration
from humboldt.suites import catalogue, plans, suites
from humboldt.suites.base import AbstractSuite
from humboldt.suites.bench import BUDGETS
from humboldt.suites.catalogue import PAPER
from humboldt.suites.cells import Cell, OverviewEntry, SettingGroup, Sorted, cells_of, order_of, sort_results
from humboldt.suites.curves import training_curves
from humboldt.suites.departures import departures
from humboldt.suites.experiments import Request
from humboldt.suites.reading import parts_of, tables_apart, tables_of, unknown_suite_tables

SUPERSEDED = "an earlier version of the task, model or measure: shown apart, never competes"


def collect(
    results: Sequence[Scores],
    folder: str,
    records: Sequence[tuple[str, Sequence[Mapping[str, Any]]]] = (),
    reported: Sequence[Scores] = (),
) -> Page:
    """Returns the content of the page. Suites without results are included, with the command for a first run.

    `records` are numbers whose members are not stored, by the file that they come from. `reported` are results of a
    bench from elsewhere.
    """
    names = catalogue.suite_names()
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
        for family, found in _all_measured(suite, ordered, records).items():
            seen.setdefault(family, {})[name] = found
        sections.append(
            Section(
                name=name,
                paper=suite.paper,
                question=suite.question,
                measure=suite.measure,
                parts=tuple(parts),
                across=tuple(suite.presentation.figures_across(suite, cells)),
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
        sections.append(
            Section(
                name=name,
                paper="",
                question="A suite that is not installed here",
                measure="",
                parts=(),
                across=(),
                apart=grids,
                first_command="",
            )
        )
    by_training: dict[str, list[Scores]] = {}
    for scores in results:
        by_training.setdefault(scores.training.key, []).append(scores)
    members = sum(map(_num_members, by_training.values()))
    summary = f"{counted(members, 'trained member')} in {counted(len(by_training), 'training')}"
    return Page(
        title="How these models generalise",
        version=__version__,
        folder=folder,
        columns=tuple(names),
        overview=tuple((family, tuple(tuple(by_suite.get(n, ())) for n in names)) for family, by_suite in seen.items()),
        sections=tuple(sections),
        answers=tuple(answers_of(results, folder, reported)),
        provenance=provenance,
        summary=summary,
    )


def _num_members(scores: Sequence[Scores]) -> int:
    """Returns the number of members of a training, over all its evaluations."""
    if len(scores) == 1:  # in which every member occurs once
        return len(scores[0].results)
    return len({canonical(result.member) for evaluation in scores for result in evaluation.results})


def _superseded(suite: AbstractSuite, ordered: Sorted) -> dict[SettingGroup, list[Cell]]:
    """Groups results of earlier versions of a task, model or measure into cells, with distinct keys."""
    return {
        heading: [replace(cell, suite=f"{cell.suite}, superseded") for cell in cells]
        for heading, cells in cells_of(suite, ordered.superseded).items()
    }


def _best_first(cells: Mapping[SettingGroup, Sequence[Cell]]) -> list[tuple[SettingGroup, Sequence[Cell]]]:
    """Sorts headings: the paper's setting, then changes to it, then other presets; those with more cells first."""
    return sorted(cells.items(), key=lambda group: (group[0].preset != PAPER, len(group[0].changes), -len(group[1])))


def _kind(heading: SettingGroup) -> tuple[str, str]:
    """Returns the kind of a heading and its badge."""
    if heading.preset != PAPER:
        changed = " with changes" if heading.changes else ""
        return "other", f"preset {heading.preset}{changed}"
    return ("changed", "paper's setting with changes") if heading.changes else ("paper", "the paper's setting")


def _kind_of(suite: AbstractSuite, heading: SettingGroup, cells: Sequence[Cell]) -> tuple[str, str]:
    """Returns kind and badge for cells under a heading, which may have fewer seeds or sweep values than the paper."""
    kind, badge = _kind(heading)
    if heading.preset in BUDGETS:  # which gives each model its own size
        sizes = {key for cell in cells for scores in cell.scores for key in scores.training.setting.get("model", {})}
        if all(key in sizes for key, _ in heading.changes):
            return kind, f"preset {heading.preset}"
    if kind == "paper" and any(not departure.text for departure in departures(suite, parts_of(cells))):
        return "changed", "a part of the paper's setting"
    return kind, badge


def _part(
    suite: AbstractSuite, heading: SettingGroup, cells: Sequence[Cell], folder: str, compared: Iterator[int]
) -> Part:
    kind, badge = _kind_of(suite, heading, cells)
    return Part(
        heading=str(heading),
        kind=kind,
        badge=badge,
        tables=tuple(grid_of(suite, heading, table, folder) for table in tables_of(suite, heading, cells)),
        spreads=spreads_of(suite, cells, compared),
        figures=tuple(suite.presentation.figures(suite, cells)),
        curves=tuple(training_curves(suite, cells)),
        gaps=tuple(_gaps(suite, heading, cells, folder)),
    )


def _overview(suite: AbstractSuite, cells: Mapping[SettingGroup, Sequence[Cell]]) -> dict[str, list[Seen]]:
    """Returns the networks of each family. Each is summarised over the cells nearest to the paper's setting, all of one
    kind, so that numbers of a quick preset are never mixed with those of the paper's."""
    families: dict[str, list[Seen]] = {}
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
        glance = suite.presentation.overview(list(nearest.values()))
        if glance is not None:
            others = len({str(heading) for heading, _ in own} - {str(cell.heading) for cell in nearest.values()})
            more = f"and {counted(others, 'other setting')} below" if others else ""
            kind, badge = _kind_of(suite, first, list(nearest.values()))
            seen = Seen(
                network=catalogue.contender(suite, model).title, badge=badge, kind=kind, glance=glance, more=more
            )
            families.setdefault(catalogue.family(suite, model), []).append(seen)
    return families


def _all_measured(
    suite: AbstractSuite, ordered: Sorted, records: Sequence[tuple[str, Sequence[Mapping[str, Any]]]]
) -> dict[str, list[Seen]]:
    """Returns the overview of current results. Networks without any are shown with results of earlier versions; those
    whose members are not stored, with the number of their records."""
    families = _overview(suite, ordered.cells)
    shown = {seen.network for networks in families.values() for seen in networks}
    for family, networks in _overview(suite, cells_of(suite, ordered.superseded)).items():
        earlier = [replace(seen, kind="superseded", badge="an earlier version") for seen in networks]
        families.setdefault(family, []).extend(seen for seen in earlier if seen.network not in shown)
    shown |= {seen.network for networks in families.values() for seen in networks}
    counts = Counter(r["model"] for _, of_file in records for r in of_file if r["suite"] == suite.name)
    for model, count in counts.items():
        title = catalogue.contender(suite, model).title
        if title not in shown:
            about = "Numbers whose members are not stored: see the records of this suite below."
            glance = OverviewEntry(text=counted(count, "record"), about=about)
            seen = Seen(network=title, badge="numbers on record", kind="other", glance=glance, more="")
            families.setdefault(catalogue.family(suite, model), []).append(seen)
    return {family: networks for family, networks in families.items() if networks}


def _gaps(suite: AbstractSuite, heading: SettingGroup, cells: Sequence[Cell], folder: str) -> Iterator[Gap]:
    """Yields the cells of the heading's preset without results, by model, with an estimate from other tasks. A bench
    has the models that were asked for."""
    done = {(cell.task, cell.model) for cell in cells}
    missing: dict[str, list[str]] = {}
    models = tuple(dict.fromkeys(cell.model for cell in cells)) if heading.preset in BUDGETS else ()
    for task, model in plans.pairs(suite, Request(models=models, preset=heading.preset)):
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
        yield Gap(catalogue.contender(suite, model).title, tuple(tasks), text, estimate)


def _seconds_per_member(cells: Sequence[Cell]) -> dict[str, tuple[float, str]]:
    """Returns the mean time of a finished member and the device, by model."""
    times: dict[str, list[tuple[float, str]]] = {}
    for cell in cells:
        for result in cell.results:
            if result.state is State.FINISHED:
                times.setdefault(cell.model, []).append((result.seconds, result.environment.get("device", "")))
    return {
        model: (
            sum(seconds for seconds, _ in measured) / len(measured),
            Counter(d for _, d in measured).most_common(1)[0][0],
        )
        for model, measured in times.items()
    }
