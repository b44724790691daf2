"""The tables of Delétang et al. (2023), with our numbers beside the paper's."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from humboldt import published
from humboldt.core.identity import Evaluation, Training
from humboldt.core.results import Result
from humboldt.languages import tasks
from humboldt.languages.chomsky.base import AbstractTransduction
from humboldt.measures.accuracy import Summary, summarise
from humboldt.report.tables import MissingCell, Record, Table, TableCell, TableEntry
from humboldt.report.words import counted
from humboldt.suites import catalogue, resolving
from humboldt.suites.catalogue import PAPER
from humboldt.suites.cells import Cell, MeasureValues, SettingGroup
from humboldt.suites.chomsky.beside import beside_other_papers
from humboldt.suites.chomsky.floors import floor_of
from humboldt.suites.chomsky.other_papers import OTHER_PAPERS

if TYPE_CHECKING:
    from humboldt.suites.chomsky.suite import Chomsky

SOLVED = 90.0  # percent; section 4
SCORE = "score"


@dataclass(frozen=True)
class PrintedTables:
    """One pair of the paper's tables: maxima, and means with deviations. Models that are in no table of the paper are
    shown in the first pair of their form, autoregressive or not."""

    maxima: str
    means: str
    models: tuple[str, ...]
    autoregressive: bool = False


PRINTED = (
    PrintedTables("table_2", "table_b1", ("rnn", "stack_rnn", "tape_rnn", "transformer_encoder", "lstm")),
    PrintedTables("table_b2", "table_b3", ("cnn", "stack_rnn", "stack_lstm", "ndstack_rnn")),
    PrintedTables("table_b4", "table_b5", ("rnn", "stack_rnn", "tape_rnn", "transformer", "lstm"), autoregressive=True),
)


def scores(cell: Cell) -> list[tuple[float, Training, Result]]:
    """Returns percent, training and result of every member that has a score."""
    return [(100 * value, training, result) for value, training, result in cell.finished(SCORE)]


def best(cell: Cell) -> tuple[float, Training, Result]:
    """Returns the member that the table shows."""
    return max(scores(cell), key=lambda scored: scored[0])


def over_all(cell: Cell) -> Summary | None:
    """Summarises all members of all trainings; `None` if none has a score."""
    values = [score for score, _, _ in scores(cell)]
    return summarise(values) if values else None


def over_seeds(cell: Cell) -> Summary:
    """Summarises the seeds with the settings and learning rate of the best member, as the paper's means do."""
    _, training, result = best(cell)
    rate = result.member.get("learning_rate")  # not known for models from outside
    return summarise([s for s, t, r in scores(cell) if t is training and r.member.get("learning_rate") == rate])


def records(cell: Cell) -> list[Record]:
    """Returns flat records: best, mean and deviation over all members, and over the seeds of the best setting."""
    summary = over_all(cell)
    if summary is None:
        return []
    seeds = over_seeds(cell)
    rows = (
        ("max", summary.max, summary.members, "max"),
        ("mean", summary.mean, summary.members, None),
        ("std", summary.std, summary.members, None),
        ("mean_over_seeds", seeds.mean, seeds.members, "mean"),
        ("std_over_seeds", seeds.std, seeds.members, "std"),
    )
    return [
        Record(
            suite="chomsky",
            task=cell.task,
            model=cell.model,
            setting=setting_of(cell),
            measure=SCORE,
            statistic=statistic,
            value=value,
            members=members,
            published=printed_value(cell, printed) if printed else None,
        )
        for statistic, value, members, printed in rows
    ]


def setting_of(cell: Cell) -> str:
    """Returns heading and form of a cell, as in its records."""
    autoregressive, at_scale = cell.place
    form = ["autoregressive" if autoregressive else ""]
    if at_scale:
        form.append("{} layers {} steps".format(*at_scale))
    return " ".join(filter(None, [str(cell.heading), *form]))


def measured(cell: Cell) -> list[MeasureValues]:
    """Returns the scores of all members; the paper prints the best."""
    values = tuple(score for score, _, _ in scores(cell))
    if not values:
        return []
    return [
        MeasureValues(
            measure=SCORE,
            setting=setting_of(cell),
            values=values,
            is_solved=is_solved,
            published=printed_value(cell, "max"),
            scale=100.0,
        )
    ]


def is_solved(percent: float) -> bool:
    """Returns whether a score counts as success."""
    return percent >= SOLVED


def printed_value(cell: Cell, statistic: str, table: str | None = None) -> float | None:
    """Returns the paper's number for a cell, from the table of scaling if the cell belongs there.

    Cells with the setting of another paper have none: see `beside`.
    """
    if cell.heading.preset in OTHER_PAPERS:
        return None
    autoregressive, at_scale = cell.place
    if at_scale:
        layers, steps = at_scale
        criteria = {"paper_table": "table_b6", "layers": str(layers), "training_steps": str(steps)}
    else:
        if table is None:
            pairs = (pair for pair in PRINTED if cell.model in pair.models and pair.autoregressive == autoregressive)
            pair = next(pairs, None)
            if pair is None:
                return None
            table = pair.maxima if statistic == "max" else pair.means
        criteria = {"paper_table": table}
    text = published.lookup(
        "chomsky", "value", task=cell.task, architecture=cell.model, statistic=statistic, **criteria
    )
    return None if text is None else float(text)


def scale(training: Training) -> tuple[int, int] | None:
    """Returns layers and steps, if a training belongs to the table of scaling (appendix B.8) and not to Table 2."""
    if training.model != "transformer_encoder" or training.setting["model"].get("positions") != "relative":
        return None
    scale = training.setting["model"]["num_layers"], training.setting["steps"]
    printed = {(int(row["layers"]), int(row["training_steps"])) for row in published.rows("chomsky") if row["layers"]}
    return scale if scale in printed and scale != (5, 1_000_000) else None


def place(training: Training, evaluation: Evaluation) -> tuple[Any, ...]:
    """Returns whether models read their own answers, and layers and steps if Table B.6 has them."""
    del evaluation
    return training.setting.get("autoregressive", False), scale(training) or ()


def shown_of(training: Training) -> tuple[str, ...]:
    """Returns the settings that the table of sizes shows."""
    return ("num_layers", "steps", "positions") if scale(training) else ()


def layout(suite: "Chomsky", heading: SettingGroup, cells: Sequence[Cell]) -> list[Table]:
    """Returns all tables for which there are cells."""
    if heading.preset in OTHER_PAPERS:
        return beside_other_papers(suite, heading, cells)
    all_tables = []
    plain = [cell for cell in cells if not cell.place[1]]
    printed = {name for pair in PRINTED for name in pair.models}
    for pair in PRINTED:
        fitting = [cell for cell in plain if cell.place[0] == pair.autoregressive]
        is_first = pair is next(p for p in PRINTED if p.autoregressive == pair.autoregressive)
        wanted = [cell for cell in fitting if cell.model in pair.models or (is_first and cell.model not in printed)]
        if pair.maxima == "table_b2" and {cell.model for cell in wanted} <= {"stack_rnn"}:
            continue  # it repeats the Stack-RNN for comparison only
        if wanted:
            all_tables.extend(_pair(suite, heading, wanted, pair))
    all_tables.extend(_scaling(heading, [cell for cell in cells if cell.place[1]]))
    all_tables.extend(_times(suite, heading, plain) if heading.preset == PAPER else ())
    return all_tables


PAPERS_STEPS = 1_000_000  # of the running times in Table A.2
LEAST_STEPS = 1000  # of a training whose time is shown: a shorter one mostly compiles


def _times(suite: "Chomsky", heading: SettingGroup, cells: Sequence[Cell]) -> list[Table]:
    """Returns Table A.2: the time of a training step of one member, beside the paper's."""
    times = {(cell.task, cell.model): seconds_of_thousand_steps(cell) for cell in cells}
    models = list(dict.fromkeys(model for (_, model), seconds in times.items() if seconds is not None))
    rows = []
    for task in dict.fromkeys(task for (task, model), seconds in times.items() if seconds is not None):
        row: list[TableEntry] = [task]
        for model in models:
            hours = published.lookup("chomsky_hours", "mean_hours", task=task, architecture=model)
            theirs = None if hours is None else 3600 * float(hours) * 1000 / PAPERS_STEPS
            row += [TableCell(value=times.get((task, model)), form=".3g"), TableCell(value=theirs, form=".3g")]
        rows.append(tuple(row))
    titles = [each for model in models for each in (catalogue.contender(suite, model).title, "paper")]
    devices = {
        result.environment.get("device", "") for cell in cells for scores in cell.scores for result in scores.results
    }
    notes = (
        "The time of training and test divided by the number of members that are trained together, and by the steps; "
        f"ours: {', '.join(sorted(devices - {''})) or 'an unknown device'}. Paper: Table A.2, hours of a "
        "million steps of one member on a TPU.",
    )
    return [Table(f"chomsky, {heading}: seconds of 1,000 steps", ("Task", *titles), tuple(rows), notes)] if rows else []


def seconds_of_thousand_steps(cell: Cell) -> float | None:
    """Returns the mean time of a member, its test included, for 1,000 of its steps; `None` if no time is known, or
    of trainings with fewer steps."""
    known = [
        1000 * result.seconds / scores.training.setting["steps"]
        for scores in cell.scores
        for result in scores.results
        if result.seconds > 0 and scores.training.setting.get("steps", 0) >= LEAST_STEPS
    ]
    return sum(known) / len(known) if known else None


def _pair(suite: "Chomsky", heading: SettingGroup, cells: Sequence[Cell], printed: PrintedTables) -> list[Table]:
    """Returns a table of the best members, and one of mean and deviation over the seeds with the best settings."""
    by_place = {(cell.task, cell.model): cell for cell in cells}
    models = sorted(dict.fromkeys(cell.model for cell in cells), key=lambda name: _column(printed, name))
    titles = {name: catalogue.contender(suite, name).title for name in models}
    protocol = resolving.resolve(suite, cells[0].scores[0].training, cells[0].scores[0].evaluation).protocol
    columns = ("Level", "Task", "Chance", "Floor", *(each for name in models for each in (titles[name], "paper")))
    best_rows, mean_rows, remarks, members, seeds = [], [], [], set(), set()
    for task in dict.fromkeys(cell.task for cell in cells):
        language = tasks.get(f"chomsky/{task}")()
        is_known = isinstance(language, AbstractTransduction)  # not if it is from a file that is not here
        floor = floor_of(task, protocol)
        chance = 100 * language.chance if is_known else None
        guesses = (chance, ".0f"), (None if floor is None else 100 * floor, ".1f")
        level = language.level.value if is_known else ""
        head: list[TableEntry] = [level, task, *(TableCell(value=v, form=form) for v, form in guesses)]
        best_row, mean_row = [*head], [*head]
        for name in models:
            cell = by_place.get((task, name))
            summary = cell and over_all(cell)
            if cell is None or summary is None:
                empty = MissingCell(task, name) if cell is None else cell.without_score()
                best_row += [empty, TableCell()]
                mean_row += [TableCell(), TableCell()]
                continue
            seeds_of_best = over_seeds(cell)
            members.add(summary.members)
            seeds.add(seeds_of_best.members)
            theirs = printed_value(cell, "max", printed.maxima)
            best_row += [_best(cell, summary, theirs), TableCell(value=theirs, form=".1f")]
            mean_row += [_mean(cell, seeds_of_best, printed.means), _printed_mean(cell, printed.means)]
            swept = " ".join(f"{key}={value}" for key, value in cell.swept(best(cell)[1]).items())
            if swept:
                remarks.append(f"{task} {titles[name]}: {swept}")
        best_rows.append(tuple(best_row))
        mean_rows.append(tuple(mean_row))
    title = f"chomsky, {heading}{', autoregressive' if printed.autoregressive else ''}"
    first, last = protocol.test_lengths
    measured = f"Per-sequence accuracy in percent, averaged over {len(protocol.scored_lengths())} lengths in "
    notes = [f"{measured}{first}..{last}."]
    if any(floor_of(cell.task, protocol) is not None for cell in cells):
        notes.append("Floor: the best answers from length and position alone.")
    if remarks:
        notes.insert(0, f"Best settings: {'; '.join(remarks)}.")
    if members:
        of = f"Best of {counted(members, 'member')}, * solved (>= {SOLVED:.0f}). Paper: {_number(printed.maxima)}."
        notes.insert(0, of)
    tables = [Table(title, columns, tuple(best_rows), tuple(notes))]
    if seeds:
        note = f"Over {counted(seeds, 'seed')} with the best member's settings. Paper: {_number(printed.means)}."
        tables.append(Table(f"{title}: mean ± deviation", columns, tuple(mean_rows), (note,)))
    return tables


def _column(printed: PrintedTables, model: str) -> tuple[int, str]:
    """Returns the sort key of a column: the paper's order, then others by name."""
    return (printed.models.index(model), "") if model in printed.models else (len(printed.models), model)


def _number(table: str) -> str:
    return f"Table {table.removeprefix('table_').upper()}"


def _scaling(heading: SettingGroup, cells: Sequence[Cell]) -> list[Table]:
    """Returns Table B.6: a row per task, a column per number of layers and of steps."""
    if not cells:
        return []
    scales = sorted({cell.place[1] for cell in cells})
    columns = ["Task", *(c for layers, steps in scales for c in (f"{layers} layers, {steps:,} steps", "paper"))]
    rows = []
    for task in dict.fromkeys(cell.task for cell in cells):
        row: list[TableEntry] = [task]
        for at_scale in scales:
            cell = next((c for c in cells if c.task == task and c.place[1] == at_scale), None)
            summary = cell and over_all(cell)
            theirs = printed_value(cell, "max") if cell else None
            row.append(_best(cell, summary, theirs) if cell and summary else TableCell())
            row.append(TableCell(value=theirs, form=".1f"))
        rows.append(tuple(row))
    note = f"Transformer encoder, relative positions; best member, * solved (>= {SOLVED:.0f}). Paper: Table B6."
    return [Table(f"chomsky, {heading}, scaling", tuple(columns), tuple(rows), (note,))]


def _best(cell: Cell, summary: Summary, published: float | None) -> TableCell:
    solved = is_solved(summary.max)
    return TableCell(
        value=summary.max,
        form=".1f",
        mark="*" if solved else " ",
        cell=cell.key,
        published=published,
        scale=100.0,
        is_solved=solved,
    )


def _mean(cell: Cell, seeds: Summary, table: str) -> TableCell:
    return TableCell(
        value=seeds.mean,
        form=".1f",
        deviation=seeds.std if seeds.members > 1 else None,
        cell=cell.key,
        published=printed_value(cell, "mean", table),
        scale=100.0,
    )


def _printed_mean(cell: Cell, table: str) -> TableCell:
    mean, std = (printed_value(cell, statistic, table) for statistic in ("mean", "std"))
    return TableCell() if mean is None or std is None else TableCell(value=mean, form=".1f", deviation=std)
