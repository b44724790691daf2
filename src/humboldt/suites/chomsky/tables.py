"""The tables of Delétang et al. (2023), ours beside theirs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from humboldt import published
from humboldt.identity import Training
from humboldt.languages import tasks
from humboldt.languages.chomsky._base import AbstractTransduction
from humboldt.measures.accuracy import Summary, summarise
from humboldt.report.tables import Missing, Number, Record, Table
from humboldt.report.words import counted
from humboldt.results import Result
from humboldt.suites.cells import Cell, Heading, Measured

if TYPE_CHECKING:
    from humboldt.suites.chomsky import Chomsky

SOLVED = 90.0  # percent; section 4
SCORE = "score"


@dataclass(frozen=True)
class PrintedTables:
    """One pair of the paper's tables: maxima, and means with deviations. Models that are not in any stand in the first
    pair that has their form."""

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
    """Percent, training and result of every member that has a score."""
    return [(100 * value, training, result) for value, training, result in cell.finished(SCORE)]


def best(cell: Cell) -> tuple[float, Training, Result]:
    """The member that the table shows."""
    return max(scores(cell), key=lambda found: found[0])


def over_all(cell: Cell) -> Summary | None:
    """Over all members of all trainings."""
    values = [score for score, _, _ in scores(cell)]
    return summarise(values) if values else None


def over_seeds(cell: Cell) -> Summary:
    """Over the seeds that share settings and learning rate with the best member: what the paper's means are over."""
    _, training, result = best(cell)
    rate = result.member.get("learning_rate")  # of a model that was trained elsewhere, it is not known
    return summarise([s for s, t, r in scores(cell) if t is training and r.member.get("learning_rate") == rate])


def records(cell: Cell) -> list[Record]:
    """Flat records: best, mean and deviation over all members, and over the seeds of the best setting."""
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
            *("chomsky", cell.task, cell.model, setting_of(cell), SCORE, statistic, value, members),
            printed_value(cell, beside) if beside else None,
        )
        for statistic, value, members, beside in rows
    ]


def setting_of(cell: Cell) -> str:
    """Heading and form of a cell, as its records have them."""
    autoregressive, at_scale = cell.place
    form = ["autoregressive" if autoregressive else ""]
    if at_scale:
        form.append("{} layers {} steps".format(*at_scale))
    return " ".join(filter(None, [str(cell.heading), *form]))


def measured(cell: Cell) -> list[Measured]:
    """The scores of all members, of which the paper prints the best."""
    values = tuple(score for score, _, _ in scores(cell))
    about = SCORE, setting_of(cell), values, is_solved, printed_value(cell, "max")
    return [Measured(*about, scale=100.0)] if values else []


def is_solved(percent: float) -> bool:
    """Whether a score counts as success."""
    return percent >= SOLVED


def printed_value(cell: Cell, statistic: str, table: str | None = None) -> float | None:
    """The paper's number for a cell: from the table of scaling if the cell belongs there."""
    autoregressive, at_scale = cell.place
    if at_scale:
        layers, steps = at_scale
        criteria = {"paper_table": "table_b6", "layers": str(layers), "training_steps": str(steps)}
    else:
        if table is None:
            fitting = (one for one in PRINTED if cell.model in one.models and one.autoregressive == autoregressive)
            pair = next(fitting, None)
            if pair is None:
                return None
            table = pair.maxima if statistic == "max" else pair.means
        criteria = {"paper_table": table}
    text = published.lookup(
        "chomsky", "value", task=cell.task, architecture=cell.model, statistic=statistic, **criteria
    )
    return None if text is None else float(text)


def scale(training: Training) -> tuple[int, int] | None:
    """Layers and steps, if a training belongs into the table of scaling (appendix B.8) and not into Table 2."""
    if training.model != "transformer_encoder" or training.setting["model"].get("positions") != "relative":
        return None
    scale = training.setting["model"]["num_layers"], training.setting["steps"]
    printed = {(int(row["layers"]), int(row["training_steps"])) for row in published.rows("chomsky") if row["layers"]}
    return scale if scale in printed and scale != (5, 1_000_000) else None


def layout(suite: "Chomsky", heading: Heading, cells: Sequence[Cell]) -> list[Table]:
    """All tables that the cells have something for."""
    all_tables = []
    plain = [cell for cell in cells if not cell.place[1]]
    printed = {name for pair in PRINTED for name in pair.models}
    for pair in PRINTED:
        fitting = [cell for cell in plain if cell.place[0] == pair.autoregressive]
        is_first = pair is next(one for one in PRINTED if one.autoregressive == pair.autoregressive)
        wanted = [cell for cell in fitting if cell.model in pair.models or (is_first and cell.model not in printed)]
        if pair.maxima == "table_b2" and {cell.model for cell in wanted} <= {"stack_rnn"}:
            continue  # it repeats the Stack-RNN for comparison only
        if wanted:
            all_tables.extend(_pair(suite, heading, wanted, pair))
    all_tables.extend(_scaling(heading, [cell for cell in cells if cell.place[1]]))
    return all_tables


def _pair(suite: "Chomsky", heading: Heading, cells: Sequence[Cell], printed: PrintedTables) -> list[Table]:
    """The best members, and mean and deviation over the seeds that share the best one's settings."""
    by_place = {(cell.task, cell.model): cell for cell in cells}
    models = sorted(dict.fromkeys(cell.model for cell in cells), key=lambda name: _column(printed, name))
    titles = {name: suite.contender(name).title for name in models}
    columns = ("Level", "Task", "Chance", *(column for name in models for column in (titles[name], "paper")))
    best_rows, mean_rows, remarks, members, seeds = [], [], [], set(), set()
    for task in dict.fromkeys(cell.task for cell in cells):
        language: AbstractTransduction = tasks.get(f"chomsky/{task}")()  # pyright: ignore[reportAssignmentType]
        head = [language.level.value, task, f"{100 * language.chance:.0f}"]
        best_row, mean_row = [*head], [*head]
        for name in models:
            cell = by_place.get((task, name))
            summary = cell and over_all(cell)
            if cell is None or summary is None:
                nothing = Missing("–", task=task, model=name) if cell is None else cell.without_score()
                best_row += [nothing, "–"]
                mean_row += ["–", "–"]
                continue
            seeds_of_best = over_seeds(cell)
            members.add(summary.members)
            seeds.add(seeds_of_best.members)
            theirs = printed_value(cell, "max", printed.maxima)
            best_row += [_best(cell, summary, theirs), _text(theirs)]
            deviation = f" ± {seeds_of_best.std:.1f}" if seeds_of_best.members > 1 else ""
            mean, beside = seeds_of_best.mean, printed_value(cell, "mean", printed.means)
            text = f"{mean:.1f}{deviation}"
            mean_row.append(Number(text, cell=cell.key, value=mean, published=beside, scale=100.0))
            mean_row.append(_printed_mean(cell, printed.means))
            swept = " ".join(f"{key}={value}" for key, value in cell.swept(best(cell)[1]).items())
            if swept:
                remarks.append(f"{task} {titles[name]}: {swept}")
        best_rows.append(tuple(best_row))
        mean_rows.append(tuple(mean_row))
    title = f"chomsky, {heading}{', autoregressive' if printed.autoregressive else ''}"
    protocol = suite.restore(cells[0].scores[0].training, cells[0].scores[0].evaluation).protocol
    first, last = protocol.test_lengths
    measured = f"Per-sequence accuracy in percent, averaged over {len(protocol.scored_lengths())} lengths in "
    notes = [f"{measured}{first}..{last}."]
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
    """The paper's order, then others by name."""
    return (printed.models.index(model), "") if model in printed.models else (len(printed.models), model)


def _number(table: str) -> str:
    return f"Table {table.removeprefix('table_').upper()}"


def _scaling(heading: Heading, cells: Sequence[Cell]) -> list[Table]:
    """Table B.6: a row per task, a column per number of layers and of steps."""
    if not cells:
        return []
    scales = sorted({cell.place[1] for cell in cells})
    columns = ["Task", *(c for layers, steps in scales for c in (f"{layers} layers, {steps:,} steps", "paper"))]
    rows = []
    for task in dict.fromkeys(cell.task for cell in cells):
        row: list[Any] = [task]
        for at_scale in scales:
            cell = next((c for c in cells if c.task == task and c.place[1] == at_scale), None)
            summary = cell and over_all(cell)
            theirs = printed_value(cell, "max") if cell else None
            row += [_best(cell, summary, theirs) if cell and summary else "–", _text(theirs)]
        rows.append(tuple(row))
    note = f"Transformer encoder, relative positions; best member, * solved (>= {SOLVED:.0f}). Paper: Table B6."
    return [Table(f"chomsky, {heading}, scaling", tuple(columns), tuple(rows), (note,))]


def _best(cell: Cell, summary: Summary, published: float | None) -> Number:
    solved = is_solved(summary.max)
    text = f"{summary.max:.1f}{'*' if solved else ' '}"
    return Number(text, cell=cell.key, value=summary.max, published=published, scale=100.0, is_solved=solved)


def _text(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _printed_mean(cell: Cell, table: str) -> str:
    mean, std = (printed_value(cell, statistic, table) for statistic in ("mean", "std"))
    return "–" if mean is None or std is None else f"{mean:.1f} ± {std:.1f}"
