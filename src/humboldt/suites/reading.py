"""From a store to records and tables: what every suite's results go through."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from humboldt.errors import HumboldtError, unknown_name
from humboldt.identity import Evaluation, Training
from humboldt.outside_models import remember
from humboldt.report.tables import Record, Table
from humboldt.results import Scores, State
from humboldt.settings import words
from humboldt.store import Store, Written, as_written
from humboldt.suites import suites
from humboldt.suites.base import AbstractSuite
from humboldt.suites.cells import Cell, Heading, Measured, Sorted, plain_table, sort_results
from humboldt.suites.departures import departures, sentence
from humboldt.suites.exports import is_export, read_members


def upgrade(written: Written) -> tuple[Training, Evaluation | None]:
    """What a stored description means today; as it stands if its suite is not known."""
    if written.training.suite not in suites:
        return as_written(written)
    return suites.get(written.training.suite).read(written)


def stored(folder: Path, suite: str | None = None) -> list[Scores]:
    """What a results folder holds, in today's words: its database, or members that were exported. Models from users'
    own files are known from then on."""
    if is_export(folder):
        found = [scores for scores in read_members(folder, upgrade) if suite in (None, scores.training.suite)]
    else:
        found = Store.open(folder, upgrade).scores(suite)
    of_known_suites = [scores.training for scores in found if scores.training.suite in suites]
    remember((training, suites.get(training.suite).kind) for training in of_known_suites)
    return found


def chosen(
    results: Sequence[Scores], *, tasks: Sequence[str] = (), models: Sequence[str] = (), preset: str | None = None
) -> list[Scores]:
    """Only results of these tasks and models (of all, if none is named) and of a preset, whatever was changed in it."""
    for kind, wanted in (("task", tasks), ("model", models)):
        known = dict.fromkeys(getattr(scores.training, kind) for scores in results)
        for name in wanted:
            if name not in known:
                raise unknown_name(kind, name, known, hint=f"There are results of: {', '.join(known) or 'none'}.")
    found = [
        scores
        for scores in results
        if (not tasks or scores.training.task in tasks) and (not models or scores.training.model in models)
    ]
    if preset is None:
        return found
    kept = []
    for name in dict.fromkeys(scores.training.suite for scores in found):
        if name in suites:
            own = [scores for scores in found if scores.training.suite == name]
            suites.get(name).preset(preset)  # an error, if there is none of this name
            ordered = sort_results(suites.get(name), own)
            kept += [
                s for head, cells in ordered.cells.items() if head.preset == preset for c in cells for s in c.scores
            ]
    return kept


def records(suite: AbstractSuite, results: Sequence[Scores]) -> list[Record]:
    """The results as flat records, beside the published numbers."""
    ordered = sort_results(suite, results)
    current = [record for cells in ordered.cells.values() for cell in cells for record in _with_statistics(suite, cell)]
    return [*current, *_plain_records(ordered)]


def _with_statistics(suite: AbstractSuite, cell: Cell) -> list[Record]:
    """The suite's own records, and the statistics of members that it does not tell itself."""
    own = suite.cell_records(cell)
    told = {(record.setting, record.measure, record.statistic) for record in own}
    more = []
    for measured in suite.measured(cell):
        about = cell.suite, measured.task or cell.task, cell.model, measured.setting, measured.measure
        for statistic, value in _statistics(measured).items():
            if (measured.setting, measured.measure, statistic) not in told:
                is_printed = statistic == ("mean" if measured.is_mean else "max")
                beside = measured.published if is_printed else None
                more.append(Record(*about, statistic, value, len(measured.values), beside))
    return [*own, *more, *_without_score(suite, cell)]


def _statistics(measured: Measured) -> dict[str, float]:
    spread = measured.spread
    found: dict[str, float] = {"max": spread.best, "mean": spread.mean, "std": spread.std}
    found["interquartile_mean"] = spread.interquartile_mean
    if spread.interval is not None:
        found |= {"mean_low": spread.interval.low, "mean_high": spread.interval.high}
    found |= {f"expected_best_of_{fewer}": value for fewer, value in spread.expected_best.items()}
    if spread.solved is not None:
        found |= {"solved": spread.solved.count, "solved_low": spread.solved.low, "solved_high": spread.solved.high}
    return found


def _without_score(suite: AbstractSuite, cell: Cell) -> list[Record]:
    """How many members of a cell diverged, and how many failed: two different things."""
    about, total = (cell.suite, cell.task, cell.model, str(cell.heading), suite.headline), len(cell.members())
    counts = {state.value: cell.count(state) for state in (State.DIVERGED, State.FAILED)}
    return [Record(*about, name, count, total, None) for name, count in counts.items() if count]


def tables(suite: AbstractSuite, results: Sequence[Scores]) -> list[Table]:
    """The results in the paper's layout; what is superseded or not known stands apart."""
    ordered = sort_results(suite, results)
    result = []
    for heading, cells in ordered.cells.items():
        result.extend(tables_of(suite, heading, cells))
        result.extend(papers_models(suite, heading, cells))
    return [*result, *tables_apart(suite, ordered)]


def papers_models(suite: AbstractSuite, heading: Heading, cells: Sequence[Cell]) -> list[Table]:
    """What the paper has of its own models in the places of models that are not the paper's: whoever has run nothing
    but a model of their own compares it with these."""
    rows: dict[tuple[str, str, str], dict[str, str]] = {}
    for cell in cells:
        if cell.model in suite.contenders:
            continue
        for title, record in published_beside(suite, cell):
            setting = record.setting.removeprefix(str(heading)).strip(" ,")
            place = rows.setdefault((record.task, setting, record.measure), {})
            place.setdefault(title, words(record.published))  # the first statistic is that of the paper's main table
    known = dict.fromkeys(contender.title for contender in suite.contenders.values())
    titles = [title for title in known if any(title in found for found in rows.values())]
    if not titles:
        return []
    lines = tuple((*place, *(found.get(title, "–") for title in titles)) for place, found in rows.items())
    columns = ("Task", "", "Measure", *titles)
    return [Table(f"{suite.name}: the paper's own models, as printed, in the same places", columns, lines)]


def published_beside(suite: AbstractSuite, cell: Cell) -> Iterator[tuple[str, Record]]:
    """The records that the paper's own models would have in the place of a cell, with their titles: those for which the
    paper prints a number. Only that number is theirs."""
    for model, contender in suite.contenders.items():
        for record in suite.cell_records(replace(cell, model=model)):
            if record.published is not None:
                yield contender.title, record


def tables_of(suite: AbstractSuite, heading: Heading, cells: Sequence[Cell]) -> list[Table]:
    """The cells of one heading in the paper's layout; the last note of the first table tells departures."""
    laid_out = suite.layout(heading, cells)
    if laid_out:
        laid_out[0] = _with_note(laid_out[0], sentence(departures(suite, parts_of(cells))))
    return laid_out


def tables_apart(suite: AbstractSuite, ordered: Sorted) -> list[Table]:
    """What fits no table of the paper: results that are superseded, or not known here."""
    result = []
    if ordered.superseded:
        remark = "Results of earlier versions: they are shown here, but not in the tables above."
        result.append(plain_table(f"{suite.name}, superseded versions", ordered.superseded, [remark]))
    if ordered.unknown:
        reasons = dict.fromkeys(reason for _, reason in ordered.unknown)
        result.append(plain_table(f"{suite.name}, not known here", [one for one, _ in ordered.unknown], [*reasons]))
    return result


def _plain_records(ordered: Sorted) -> list[Record]:
    flat = []
    labelled = [(scores, "superseded") for scores in ordered.superseded]
    labelled += [(scores, "not known") for scores, _ in ordered.unknown]
    for scores, label in labelled:
        training = scores.training
        names = sorted({name for result in scores.results for name in result.measures})
        for name in names:
            values = [result.measures[name] for result in scores.results if name in result.measures]
            about = training.suite, training.task, training.model, f"{label} {training.key}"
            flat.append(Record(*about, name, "max", max(values), len(values), None))
    return flat


def parts_of(cells: Sequence[Cell]) -> list[tuple[Training, Evaluation, list]]:
    """The members of cells, by training and evaluation."""
    return [
        (scores.training, scores.evaluation, [result.member for result in scores.results])
        for cell in cells
        for scores in cell.scores
    ]


def _with_note(table: Table, note: str) -> Table:
    return Table(table.title, table.columns, table.rows, (*table.notes, note)) if note else table


def unknown_suite_tables(name: str, results: Sequence[Scores]) -> list[Table]:
    """The results of a suite that is not installed."""
    try:
        suites.get(name)
    except HumboldtError as error:
        return [plain_table(f"{name}, not known here", results, [str(error)])]
    return []
