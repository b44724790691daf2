"""Reads stored results and makes records and tables of them, for all suites."""

import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from humboldt.core.identity import Evaluation, Training, canonical
from humboldt.core.results import Scores, State
from humboldt.errors import HumboldtError, RunError, unknown_name
from humboldt.models.own import remember
from humboldt.report.tables import Record, Table, TableCell
from humboldt.report.words import printable
from humboldt.storage.exports import is_export, read_members, read_reported
from humboldt.storage.store import Store, Written, as_written
from humboldt.suites import catalogue, own_tasks, plans, resolving, suites
from humboldt.suites.base import AbstractSuite
from humboldt.suites.catalogue import PAPER
from humboldt.suites.cells import Cell, MeasureValues, SettingGroup, Sorted, plain_table, sort_results
from humboldt.suites.departures import departures, sentence


def upgrade(written: Written) -> Training:
    """Migrates a stored training to today's names; returns it as it is if its suite is not known."""
    if written.training.suite not in suites:
        return as_written(written)
    return resolving.read(suites.get(written.training.suite), written)


def warn(message: str) -> None:
    """Prints a warning."""
    print(printable(f"Warning: {message}"), file=sys.stderr)


def stored(folder: Path, suite: str | None = None, warn: Callable[[str], None] = warn) -> list[Scores]:
    """Reads all results of a folder, from its database or from exported members, and migrates them to the current
    format. Models and tasks from users' files become known. `warn` is called with remarks about damaged or unchecked
    rows."""
    if is_export(folder):
        results = [scores for scores in read_members(folder, upgrade) if suite in (None, scores.training.suite)]
    else:
        store = Store.open(folder, upgrade)
        results = store.scores(suite)
        for remark in store.remarks:
            warn(remark)
    _make_known(results)
    return results


@contextmanager
def explained(folder: Path) -> Iterator[None]:
    """Turns errors about values of an unexpected form, such as results from elsewhere may have, into messages."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(frame.filename).name}, line {frame.lineno}: {type(error).__name__}: {error!s:.200}"
        raise RunError(
            f"The results in `{folder}` cannot be shown: a value has another form than Humboldt writes ({place}). "
            "Restore the files from a copy. If nothing has changed them, this is an error of Humboldt: report it with "
            "this text."
        ) from error


def reported(folder: Path) -> list[Scores]:
    """Reads the reported results of a folder: exported members that `humboldt merge` added."""
    results = read_reported(folder, upgrade)
    _make_known(results)
    return results


def _make_known(results: Sequence[Scores]) -> None:
    """Registers the models and tasks of users' files that results are of."""
    of_known_suites = [scores.training for scores in results if scores.training.suite in suites]
    own_tasks.remember(of_known_suites)
    remember((training, suites.get(training.suite).kind) for training in of_known_suites)


def chosen(
    results: Sequence[Scores], *, tasks: Sequence[str] = (), models: Sequence[str] = (), preset: str | None = None
) -> list[Scores]:
    """Selects results by task and model (all, if none is named) and by preset, with or without changes to it."""
    for kind, wanted in (("task", tasks), ("model", models)):
        known = dict.fromkeys(getattr(scores.training, kind) for scores in results)
        for name in wanted:
            if name not in known:
                raise unknown_name(kind, name, known, hint=f"There are results of: {', '.join(known) or 'none'}.")
    selected = [
        scores
        for scores in results
        if (not tasks or scores.training.task in tasks) and (not models or scores.training.model in models)
    ]
    if preset is None:
        return selected
    of_preset = []
    for name in dict.fromkeys(scores.training.suite for scores in selected):
        if name in suites:
            of_suite = [scores for scores in selected if scores.training.suite == name]
            catalogue.preset(suites.get(name), preset)  # raises if there is none of this name
            ordered = sort_results(suites.get(name), of_suite)
            of_preset += [
                s for head, cells in ordered.cells.items() if head.preset == preset for c in cells for s in c.scores
            ]
    return of_preset


def records(suite: AbstractSuite, results: Sequence[Scores]) -> list[Record]:
    """Returns results as flat records, with the published numbers."""
    ordered = sort_results(suite, results)
    current = [record for cells in ordered.cells.values() for cell in cells for record in _with_statistics(suite, cell)]
    return [*current, *_plain_records(ordered)]


def _with_statistics(suite: AbstractSuite, cell: Cell) -> list[Record]:
    """Returns the suite's records of a cell, and the statistics over members that are not among them."""
    of_suite = suite.presentation.records(cell)
    covered = {(record.setting, record.measure, record.statistic) for record in of_suite}
    more = []
    for measured in suite.presentation.measured(cell):
        for statistic, value in _statistics(measured).items():
            if (measured.setting, measured.measure, statistic) in covered:
                continue
            is_printed = statistic == ("mean" if measured.is_mean else "max")
            more.append(
                Record(
                    suite=cell.suite,
                    task=measured.task or cell.task,
                    model=cell.model,
                    setting=measured.setting,
                    measure=measured.measure,
                    statistic=statistic,
                    value=value,
                    members=len(measured.values),
                    published=measured.published if is_printed else None,
                )
            )
    return [*of_suite, *more, *_without_score(suite, cell)]


def _statistics(measured: MeasureValues) -> dict[str, float]:
    spread = measured.spread
    statistics: dict[str, float] = {"max": spread.best, "mean": spread.mean, "std": spread.std}
    statistics["interquartile_mean"] = spread.interquartile_mean
    if spread.interval is not None:
        statistics |= {"mean_low": spread.interval.low, "mean_high": spread.interval.high}
    statistics |= {f"expected_best_of_{fewer}": value for fewer, value in spread.expected_best.items()}
    if spread.solved is not None:
        solved = spread.solved
        statistics |= {"solved": solved.count, "solved_low": solved.low, "solved_high": solved.high}
    return statistics


def _without_score(suite: AbstractSuite, cell: Cell) -> list[Record]:
    """Returns records of the numbers of diverged and of failed members, if there are any."""
    return [
        Record(
            suite=cell.suite,
            task=cell.task,
            model=cell.model,
            setting=str(cell.heading),
            measure=suite.headline,
            statistic=state.value,
            value=cell.count(state),
            members=len(cell.members()),
            published=None,
        )
        for state in (State.DIVERGED, State.FAILED)
        if cell.count(state)
    ]


def tables(suite: AbstractSuite, results: Sequence[Scores]) -> list[Table]:
    """Returns the results in the paper's layout; superseded and unknown results get tables of their own."""
    ordered = sort_results(suite, results)
    result = []
    for heading, cells in ordered.cells.items():
        title, shorter = f"{suite.name}, {heading}", f"{suite.name}, {shorter_preset(suite, heading, cells)}"
        result.extend(
            replace(table, title=shorter + table.title.removeprefix(title)) if table.title.startswith(title) else table
            for table in tables_of(suite, heading, cells)
        )
        result.extend(papers_models(suite, heading, cells))
    return [*result, *tables_apart(suite, ordered)]


def shorter_preset(suite: AbstractSuite, heading: SettingGroup, cells: Sequence[Cell]) -> str:
    """Returns the heading of a table; the preset `quick` if it has all trainings and members of these cells, but for
    the changes that the heading names, although their settings are the paper's: then they are a part of what the paper
    ran."""
    name = "quick"
    if heading.preset != PAPER or name not in suite.presets:
        return str(heading)
    for cell in cells:
        if cell.model in suite.contenders and suite.presets[name].models is not None:
            return str(heading)
        members = set(map(canonical, plans.preset_members(suite, cell.task, cell.model, name)))
        all_members = set(map(canonical, plans.paper_members(suite, cell.task, cell.model)))
        results = {canonical(result.member) for result in cell.results}
        for scores in cell.scores:
            flat = {**scores.training.flat, **scores.evaluation.setting}
            flat = {key: value for key, value in flat.items() if key not in heading.values}
            expected = plans.expected(suite, cell.task, cell.model, name, scores.evaluation.name)
            if not any(all(one.get(key) == value for key, value in flat.items()) for one in expected):
                return str(heading)
        if not results <= members or members == all_members:
            return str(heading)
    return str(replace(heading, preset=name))


def papers_models(suite: AbstractSuite, heading: SettingGroup, cells: Sequence[Cell]) -> list[Table]:
    """Returns the paper's numbers for the cells of models that are not the paper's, for users who ran only their own
    model."""
    rows: dict[tuple[str, str, str], dict[str, TableCell]] = {}
    for cell in cells:
        if cell.model in suite.contenders:
            continue
        for title, record in published_beside(suite, cell):
            setting = record.setting.removeprefix(str(cell.heading)).strip(" ,")
            place = rows.setdefault((record.task, setting, record.measure), {})
            # The first statistic is that of the paper's main table.
            place.setdefault(title, TableCell(value=record.published, form="g"))
    known = dict.fromkeys(contender.title for contender in suite.contenders.values())
    titles = [title for title in known if any(title in by_title for by_title in rows.values())]
    if not titles:
        return []
    lines = tuple((*place, *(by_title.get(title, TableCell()) for title in titles)) for place, by_title in rows.items())
    columns = ("Task", "", "Measure", *titles)
    return [Table(f"{suite.name}: the paper's own models, as printed, in the same places", columns, lines)]


def published_beside(suite: AbstractSuite, cell: Cell) -> Iterator[tuple[str, Record]]:
    """Yields the records that the paper's models would have in place of a cell, with their titles, where the paper
    prints a number. Only the field `published` is meaningful."""
    for model, contender in suite.contenders.items():
        for record in suite.presentation.records(replace(cell, model=model)):
            if record.published is not None:
                yield contender.title, record


def tables_of(suite: AbstractSuite, heading: SettingGroup, cells: Sequence[Cell]) -> list[Table]:
    """Returns the cells of one heading in the paper's layout; the last notes of the first table list the settings of
    single models, and departures."""
    laid_out = suite.presentation.layout(suite, heading, cells)
    if laid_out:
        laid_out[0] = _with_note(laid_out[0], _of_single_models(suite, heading, cells))
        laid_out[0] = _with_note(laid_out[0], _departures(suite, cells))
    return laid_out


def _of_single_models(suite: AbstractSuite, heading: SettingGroup, cells: Sequence[Cell]) -> str:
    """Returns the settings in which single models differ from the heading of their table."""
    differing = {cell.model: cell.heading.beyond(heading) for cell in cells if cell.heading.beyond(heading)}
    if not differing:
        return ""
    parts = [
        f"{catalogue.contender(suite, model).title}: {', '.join(f'{key}={value}' for key, value in changes)}"
        for model, changes in differing.items()
    ]
    return f"Settings of single models: {'; '.join(parts)}."


def tables_apart(suite: AbstractSuite, ordered: Sorted) -> list[Table]:
    """Returns tables of the results that fit no table of the paper: superseded or unknown ones."""
    result = []
    if ordered.superseded:
        remark = "Results of earlier versions: they are shown here, but not in the tables above."
        result.append(plain_table(f"{suite.name}, superseded versions", ordered.superseded, [remark]))
    if ordered.unknown:
        reasons = dict.fromkeys(reason for _, reason in ordered.unknown)
        unknown = [scores for scores, _ in ordered.unknown]
        result.append(plain_table(f"{suite.name}, not known here", unknown, [*reasons]))
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
            flat.append(
                Record(
                    suite=training.suite,
                    task=training.task,
                    model=training.model,
                    setting=f"{label} {training.key}",
                    measure=name,
                    statistic="max",
                    value=max(values),
                    members=len(values),
                    published=None,
                )
            )
    return flat


def parts_of(cells: Sequence[Cell]) -> list[tuple[Training, Evaluation, list]]:
    """Returns training, evaluation and members of all results in some cells."""
    return [
        (scores.training, scores.evaluation, [result.member for result in scores.results])
        for cell in cells
        for scores in cell.scores
    ]


def _departures(suite: AbstractSuite, cells: Sequence[Cell]) -> str:
    parts = parts_of(cells)
    return sentence(departures(suite, parts), parts)


def _with_note(table: Table, note: str) -> Table:
    return replace(table, notes=(*table.notes, note)) if note else table


def unknown_suite_tables(name: str, results: Sequence[Scores]) -> list[Table]:
    """Returns tables for the results of a suite that is not installed."""
    try:
        suites.get(name)
    except HumboldtError as error:
        return [plain_table(f"{name}, not known here", results, [str(error)])]
    return []
