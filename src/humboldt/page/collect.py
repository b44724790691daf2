"""From results to what a page shows: plain data, in the order of the page. Nothing here writes HTML."""

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from humboldt import __version__
from humboldt.identity import canonical
from humboldt.measures.statistics import Spread, difference
from humboldt.page import commands
from humboldt.report.figures import AnyFigure
from humboldt.report.tables import Missing, Number, Table
from humboldt.report.words import counted, duration
from humboldt.settings import words
from humboldt.store import Result, Scores, State
from humboldt.suites import suites
from humboldt.suites.base import PAPER, AbstractSuite
from humboldt.suites.cells import Cell, Glance, Heading, Measured, Sorted, cells_of, order_of, sort_results
from humboldt.suites.departures import departures, sentence
from humboldt.suites.experiments import Request
from humboldt.suites.reading import parts_of, tables_apart, tables_of, unknown_suite_tables

LEVELS = (0.005, 0.03, 0.1, 0.25)  # of a difference to the paper, as a share of the range: same, close, far, ...
SUPERSEDED = "an earlier version of the task, model or measure: shown apart, never competes"
MOST_COMPARED = 60  # differences between models on a page: each takes some hundredths of a second
MOST_SPREADS = 600  # rows of statistics on a page
MOST_LISTED = 12  # different values in a line


@dataclass(frozen=True)
class Entry:
    """A place in a table of the page.

    - `key`: of what is known about it. `command`: what would fill it, where it is empty.
    - `gap`: the difference to the paper in words; `level`: how large it is, from 0, with the sign of the difference.
    """

    text: str
    key: str = ""
    gap: str = ""
    level: int = 0
    is_solved: bool = False
    is_printed: bool = False  # the paper's own number
    has_counterpart: bool = False
    command: str = ""


@dataclass(frozen=True)
class Grid:
    """A table of the page."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]
    notes: tuple[str, ...]

    @property
    def texts(self) -> tuple[bool, ...]:
        """Which columns hold words, not numbers."""
        columns = zip(*self.rows, strict=True) if self.rows else ([] for _ in self.columns)
        return tuple(
            any(entry.text[:1].isalpha() and not entry.key and not entry.command for entry in column)
            for column in columns
        )


@dataclass(frozen=True)
class Gap:
    """Places without results that one command fills."""

    model: str
    tasks: tuple[str, ...]
    command: str
    estimate: str


@dataclass(frozen=True)
class Part:
    """What a suite has under one heading. `kind` tells presets apart: paper, paper with changes, or another."""

    heading: str
    kind: str
    badge: str
    tables: tuple[Grid, ...]
    spreads: Grid | None
    figures: tuple[AnyFigure, ...]
    gaps: tuple[Gap, ...]


@dataclass(frozen=True)
class Section:
    """One suite."""

    name: str
    paper: str
    question: str
    measure: str
    parts: tuple[Part, ...]
    across: tuple[AnyFigure, ...]
    apart: tuple[Grid, ...]
    first_command: str  # where there are no results


@dataclass(frozen=True)
class Seen:
    """A network in the overview: what a family has in one suite."""

    network: str
    badge: str
    kind: str
    glance: Glance
    more: str


@dataclass
class Page:
    """Everything that a page shows."""

    title: str
    version: str
    folder: str
    columns: tuple[str, ...]
    overview: tuple[tuple[str, tuple[tuple[Seen, ...], ...]], ...]
    sections: tuple[Section, ...]
    provenance: dict[str, dict[str, Any]] = field(default_factory=dict)
    summary: str = ""


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
            provenance |= {cell.key: _provenance(suite, cell, folder) for cell in under_heading}
        for heading, under_heading in _best_first(_superseded(suite, ordered)):
            part = _part(suite, heading, under_heading, folder, compared)
            parts.append(replace(part, kind="superseded", badge=SUPERSEDED, gaps=()))
            provenance |= {cell.key: _provenance(suite, cell, folder) for cell in under_heading}
        for family, found in _overview(suite, ordered.cells).items():
            seen.setdefault(family, {})[name] = found
        sections.append(
            Section(
                *(name, suite.paper, suite.question, suite.measure, tuple(parts)),
                across=tuple(suite.figures_across(cells)),
                apart=(
                    *(
                        _grid(suite, None, table, folder)
                        for table in tables_apart(suite, replace(ordered, superseded=[]))
                    ),
                    *(grid for file, found in records if (grid := _recorded(suite, file, found)) is not None),
                ),
                first_command=f"humboldt run {name} --preset quick --out {folder}",
            )
        )
    for name in strangers:
        own = [scores for scores in results if scores.training.suite == name]
        grids = tuple(_grid(None, None, table, folder) for table in unknown_suite_tables(name, own))
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
        tables=tuple(_grid(suite, heading, table, folder) for table in tables_of(suite, heading, cells)),
        spreads=_spreads(suite, heading, cells, compared),
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


def _grid(suite: AbstractSuite | None, heading: Heading | None, table: Table, folder: str) -> Grid:
    rows = tuple(tuple(_entries(suite, heading, table, row, folder)) for row in table.rows)
    told = "" if suite is None or heading is None else f"{suite.name}, {heading}"  # by what stands above the table
    title = table.title.removeprefix(told).lstrip(",: ") or "Ours beside the paper's"
    return Grid(title[:1].upper() + title[1:], table.columns, rows, table.notes)


def _entries(
    suite: AbstractSuite | None, heading: Heading | None, table: Table, row: Sequence[str], folder: str
) -> Iterator[Entry]:
    for column, text in zip(table.columns, row, strict=True):
        if isinstance(text, Number):
            gap, level = _gap(text)
            has = text.published is not None
            yield Entry(str(text).strip(), text.cell, gap, level, text.is_solved, has_counterpart=has)
        elif isinstance(text, Missing) and suite is not None and heading is not None:
            yield Entry(str(text), command=commands.of_missing(suite, heading, [text.task], text.model, folder))
        else:
            yield Entry(str(text).strip(), is_printed=column == "paper")


def _recorded(suite: AbstractSuite, file: str, records: Sequence[Mapping[str, Any]]) -> Grid | None:
    """Numbers of this suite that stand beside a published one, and whose members are not at hand."""
    rows = []
    for one in records:
        if one["suite"] != suite.name or one["published"] is None:
            continue
        value = one["value"]
        text = value if isinstance(value, str) else f"{value:.4g}"
        scale = max(1.0, abs(one["published"])) if isinstance(one["published"], int | float) else 1.0
        gap, level = _gap(Number(text, cell="", value=value, published=one["published"], scale=scale))
        beside = [one["task"], one["model"], one["setting"], one["measure"], one["statistic"]]
        ours = Entry(text, "recorded", gap, level, has_counterpart=True)
        paper = Entry(str(one["published"]), is_printed=True)
        rows.append((*map(Entry, beside), ours, paper, Entry(str(one["members"]))))
    if not rows:
        return None
    columns = ("Task", "Model", "Setting", "Measure", "Statistic", "Ours", "paper", "Members")
    return Grid(f"On record, without single members: {file}", columns, tuple(rows), ())


def _gap(number: Number) -> tuple[str, int]:
    """The difference to the paper, in words and as a level: 0 is none to speak of, more is more, with its sign."""
    ours, theirs = number.value, number.published
    if ours is None or theirs is None:
        return "", 0
    if isinstance(ours, str) or isinstance(theirs, str):
        if str(ours) == str(theirs):
            return "=", 0
        if str(ours).startswith("<") and _rank(theirs) < _rank(ours):
            return "≠", 0  # less than what was tried: whether it is less than the paper's is not known
        return "≠", len(LEVELS) * (-1 if _rank(ours) < _rank(theirs) else 1)
    apart = ours - theirs
    decimals = len(str(number).rstrip("* ").split(" ")[0].partition(".")[2])
    level = sum(abs(apart) > least * number.scale for least in LEVELS)
    text = f"{apart:+.{decimals}f}"
    return ("=" if float(text) == 0 else text), level if apart > 0 else -level


def _rank(value: float | str) -> float:
    """A B-index as a number: `<1` is less than 1."""
    text = str(value)
    return float(text.removeprefix("<")) - 0.5 * text.startswith("<")


def _spreads(suite: AbstractSuite, heading: Heading, cells: Sequence[Cell], compared: Iterator[int]) -> Grid | None:
    """What a best, a share and a mean are worth: one row for each cell and measure."""
    rows, left_out = [], 0
    with_lists = [(cell, found) for cell in cells for found in suite.measured(cell)]
    fewer = sorted({n for _, found in with_lists for n in found.spread.expected_best})
    shown = [n for n in fewer if n in (1, 5, 10, 20)] or fewer[:3]
    rivals = _rivals(with_lists)
    for cell, found in with_lists[:MOST_SPREADS]:
        spread = found.spread
        solved = "–" if spread.solved is None else f"{spread.solved.count} of {spread.solved.total}"
        if spread.solved is not None:
            solved += f" ({100 * spread.solved.low:.0f}–{100 * spread.solved.high:.0f}%)"
        mean = _number(spread.mean) + (f" ± {_number(spread.std)}" if spread.members > 1 else "")
        if spread.interval is not None:
            mean += f" [{_number(spread.interval.low)}, {_number(spread.interval.high)}]"
        rival = rivals[found.setting, found.task or cell.task, canonical(list(cell.place)), found.measure]
        apart = "–"
        if rival is found:
            apart = "highest mean"
        elif min(len(found.values), len(rival.values)) > 1:
            if next(compared) < MOST_COMPARED:
                against = difference(found.values, rival.values)
                apart = f"{_number(against.mean)} (p {_p(against.p)})"
            else:
                left_out += 1
        place = ", ".join([found.task or cell.task, *map(words, _parts_of_place(cell))])
        row = [place, suite.contender(cell.model).title, found.measure, f"{_number(spread.best)} of {spread.members}"]
        row += [solved, *(_number(spread.expected_best.get(n)) for n in shown), mean]
        row += [_number(spread.interquartile_mean), apart]
        entries = [Entry(text) for text in row]
        entries[3] = Entry(row[3], cell.key)
        rows.append(tuple(entries))
    if not rows:
        return None
    columns = (
        "Task",
        "Model",
        "Measure",
        "Best of N",
        "Solved (95% Wilson)",
        *(f"Best of {n}, expected" for n in shown),
    )
    columns = (*columns, "Mean ± deviation [95% bootstrap]", "Interquartile mean", "To the highest mean")
    notes = [
        "A best of N grows with N. The expected best of fewer is the mean over all choices of that many of these "
        "members (unbiased, Tang et al. 2020): compare models at the same number.",
        "To the highest mean: the difference of the means, two-sided p by permuting who belongs to which model; "
        "members of two models share nothing, so that nothing is paired.",
    ]
    more = len(with_lists) - len(rows)
    if more > 0:
        notes.append(f"{more:,} more rows are left out; `humboldt show --json` has all.")
    if left_out:
        notes.append(f"{left_out:,} more differences between models are left out.")
    return Grid("What these numbers are worth", columns, tuple(rows), tuple(notes))


def _parts_of_place(cell: Cell) -> list[Any]:
    return [part for part in cell.place if part not in ((), False, 0, "")]


def _rivals(found: Sequence[tuple[Cell, Measured]]) -> dict[tuple[str, str, str, str], Measured]:
    """For each row of a table, who has the highest mean."""
    best: dict[tuple[str, str, str, str], Measured] = {}
    for cell, measured in found:
        key = measured.setting, measured.task or cell.task, canonical(list(cell.place)), measured.measure
        if key not in best or measured.spread.mean > best[key].spread.mean:
            best[key] = measured
    return best


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"


def _p(value: float) -> str:
    return f"= {value:.3f}" if value >= 0.001 else "< 0.001"


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
        for result in _results(cell):
            if result.state is State.FINISHED:
                times.setdefault(cell.model, []).append((result.seconds, result.environment.get("device", "")))
    return {
        model: (sum(seconds for seconds, _ in found) / len(found), Counter(d for _, d in found).most_common(1)[0][0])
        for model, found in times.items()
    }


def _results(cell: Cell) -> list[Result]:
    return [result for scores in cell.scores for result in scores.results]


def _provenance(suite: AbstractSuite, cell: Cell, folder: str) -> dict[str, Any]:
    """Where the numbers of a cell come from."""
    command = commands.of_cell(suite, cell, folder)
    results = _results(cell)
    states = Counter(result.state.value for result in results)
    scores = cell.scores[0]
    versions = {**scores.training.versions, "measure": scores.evaluation.version}
    environments = [result.environment for result in results]
    lines: list[tuple[str, str]] = [
        ("Setting", str(cell.heading)),
        ("Not the paper's", _departures(suite, cell) or "nothing: all settings are the paper's"),
        ("Members", ", ".join(f"{count} {state}" for state, count in sorted(states.items()))),
        *((key.replace("_", " "), text) for key, text in _member_values(results)),
        ("Network", f"{suite.contender(cell.model).model}, engine {scores.training.engine}"),
        ("Versions", ", ".join(f"{key} {value}" for key, value in sorted(versions.items()))),
        ("Software", _distinct(_software(one) for one in environments)),
        ("Device", _distinct(one.get("device", "not known") for one in environments)),
        ("Wall time", f"{duration(sum(result.seconds for result in results))}, the shares of all members together"),
        ("Trainings", _distinct(scores.training.key for scores in cell.scores)),
    ]
    return {
        "title": f"{cell.suite} · {cell.task} · {suite.contender(cell.model).title}",
        "command": command.text,
        "exact": command.is_exact,
        "lines": lines,
        "spreads": [_spread_lines(found) for found in suite.measured(cell)],
    }


def _departures(suite: AbstractSuite, cell: Cell) -> str:
    text = sentence(departures(suite, parts_of([cell])))
    return text.removeprefix("Not the paper's setting: ")


def _member_values(results: Sequence[Result]) -> Iterator[tuple[str, str]]:
    keys = dict.fromkeys(key for result in results for key in result.member)
    for key in keys:
        values = sorted(
            {canonical(result.member[key]): result.member[key] for result in results if key in result.member}
        )
        numbers = [int(value) for value in values if value.lstrip("-").isdigit()]
        if len(numbers) == len(values) > 2 and sorted(numbers) == list(range(min(numbers), max(numbers) + 1)):
            yield key, f"{min(numbers)} to {max(numbers)}"
        else:
            shown = [value.strip('"') or "–" for value in values[:MOST_LISTED]]
            more = f" and {len(values) - MOST_LISTED} more" if len(values) > MOST_LISTED else ""
            yield key, ", ".join(shown) + more


def _software(environment: Mapping[str, str]) -> str:
    shown = {key: value for key, value in environment.items() if key not in ("device", "devices")}
    return ", ".join(f"{key} {value}" for key, value in sorted(shown.items())) or "not known"


def _distinct(texts: Any) -> str:
    values = list(dict.fromkeys(texts))
    more = f"; and {len(values) - MOST_LISTED} more" if len(values) > MOST_LISTED else ""
    return "; ".join(values[:MOST_LISTED]) + more


def _spread_lines(found: Measured) -> dict[str, Any]:
    spread: Spread = found.spread
    lines = [(f"Best of {spread.members}", _number(spread.best))]
    if found.published is not None:
        ours = spread.mean if found.is_mean else spread.best
        kind = "mean" if found.is_mean else "best"
        lines.append(("Paper", f"{found.published:g}; our {kind} is {ours - found.published:+.2f} from it"))
    if spread.solved is not None:
        low, high = 100 * spread.solved.low, 100 * spread.solved.high
        lines.append(("Solved", f"{spread.solved.count} of {spread.solved.total} (95% {low:.0f}–{high:.0f}%)"))
    expected = [f"{_number(value)} of {n}" for n, value in spread.expected_best.items()]
    if expected:
        lines.append(("Expected best of fewer", ", ".join(expected)))
    lines.append(("Mean", f"{_number(spread.mean)} ± {_number(spread.std)}"))
    if spread.interval is not None:
        lines.append(("95% bootstrap interval", f"{_number(spread.interval.low)} to {_number(spread.interval.high)}"))
    lines.append(("Interquartile mean", _number(spread.interquartile_mean)))
    return {"measure": found.measure, "setting": found.setting, "lines": lines}
