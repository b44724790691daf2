"""The tables of Delétang et al. (2023), ours beside theirs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from humboldt import published
from humboldt.languages import tasks
from humboldt.languages.chomsky._base import AbstractTransduction
from humboldt.measures.accuracy import Summary, summarise
from humboldt.report.words import counted
from humboldt.store import Result, Run, State, canonical
from humboldt.suites._base import Record, Table

SOLVED = 90.0  # percent; section 4
SCORE = "score"

TITLES = {
    "rnn": "RNN",
    "stack_rnn": "Stack-RNN",
    "tape_rnn": "Tape-RNN",
    "transformer_encoder": "Transformer",
    "lstm": "LSTM",
    "cnn": "CNN",
    "stack_lstm": "Stack-LSTM",
    "ndstack_rnn": "NDStack-RNN",
    "transformer": "Transformer",
}


@dataclass(frozen=True)
class Layout:
    """One pair of the paper's tables: maxima, and means with deviations."""

    max_table: str
    mean_table: str | None
    models: tuple[str, ...]
    autoregressive: bool = False


LAYOUTS = (
    Layout("table_2", "table_b1", ("rnn", "stack_rnn", "tape_rnn", "transformer_encoder", "lstm")),
    Layout("table_b2", "table_b3", ("cnn", "stack_rnn", "stack_lstm", "ndstack_rnn")),
    Layout("table_b4", "table_b5", ("rnn", "stack_rnn", "tape_rnn", "transformer", "lstm"), autoregressive=True),
)


@dataclass(frozen=True)
class Cell:
    """All runs that compete for one cell of a table: the same label, task and model, other swept settings."""

    task: str
    model: str
    label: str
    runs: tuple[tuple[Run, list[Result]], ...]

    @property
    def autoregressive(self) -> bool:
        return bool(self.runs[0][0].setting["autoregressive"])

    def scores(self) -> list[tuple[float, Run, Mapping[str, Any]]]:
        """Percent, run and member of every member that has a score."""
        return [
            (100 * result.measures[SCORE], run, result.member)
            for run, results in self.runs
            for result in results
            if result.state is State.FINISHED
        ]

    def summary(self) -> Summary | None:
        """Over all members of all runs."""
        scores = [score for score, _, _ in self.scores()]
        return summarise(scores) if scores else None

    def best(self) -> tuple[float, Run, Mapping[str, Any]]:
        """The member that the table shows."""
        return max(self.scores(), key=lambda found: found[0])

    def over_seeds(self) -> Summary:
        """Over the seeds that share run and learning rate with the best member: what the paper's means are over."""
        _, best_run, best_member = self.best()
        rate = best_member["learning_rate"]
        return summarise([s for s, run, m in self.scores() if run is best_run and m["learning_rate"] == rate])

    def swept(self) -> str:
        """The best member's values of what differs between the runs, in words; empty if nothing does."""
        if len(self.runs) == 1:
            return ""
        flat = [_flat(run.setting) for run, _ in self.runs]
        keys = [key for key in flat[0] if len({canonical(one.get(key)) for one in flat}) > 1]
        chosen = _flat(self.best()[1].setting)
        return " ".join(f"{key}={chosen[key]}" for key in keys)


def cells(runs: Sequence[tuple[Run, list[Result]]]) -> list[Cell]:
    """The runs, grouped by the cell they compete for."""
    groups: dict[tuple[Any, ...], list[tuple[Run, list[Result]]]] = {}
    for run, results in runs:
        key = (run.label, run.task, run.model, run.setting["autoregressive"], _scale(run))
        groups.setdefault(key, []).append((run, results))
    return [Cell(key[1], key[2], key[0], tuple(group)) for key, group in groups.items()]


def records(runs: Sequence[tuple[Run, list[Result]]]) -> list[Record]:
    """Flat records: best, mean and deviation over all members, and over the seeds of the best setting."""
    found = []
    for cell in cells(runs):
        summary = cell.summary()
        if summary is None:
            continue
        seeds = cell.over_seeds()
        rows = (
            ("max", summary.max, summary.members, "max"),
            ("mean", summary.mean, summary.members, None),
            ("std", summary.std, summary.members, None),
            ("mean_over_seeds", seeds.mean, seeds.members, "mean"),
            ("std_over_seeds", seeds.std, seeds.members, "std"),
        )
        setting = " ".join(filter(None, [cell.label, "autoregressive" if cell.autoregressive else ""]))
        for statistic, value, members, printed in rows:
            beside = printed and printed_value(cell.runs[0][0], printed)
            found.append(Record("chomsky", cell.task, cell.model, setting, SCORE, statistic, value, members, beside))
    return found


def printed_value(run: Run, statistic: str, table: str | None = None) -> float | None:
    """The paper's number for a run's cell: from the table of scaling if the run has its settings."""
    if table is None and run.model == "transformer_encoder" and (scale := _scale(run)):
        layers, steps = scale
        criteria = {"paper_table": "table_b6", "layers": str(layers), "training_steps": str(steps)}
    elif table is not None:
        criteria = {"paper_table": table}
    else:
        layout = next(
            (one for one in LAYOUTS if run.model in one.models and one.autoregressive == run.setting["autoregressive"]),
            None,
        )
        if layout is None:
            return None
        criteria = {"paper_table": layout.max_table if statistic == "max" else str(layout.mean_table)}
    text = published.lookup("chomsky", "value", task=run.task, architecture=run.model, statistic=statistic, **criteria)
    return None if text is None else float(text)


def tables(
    runs: Sequence[tuple[Run, list[Result]]], order: Sequence[str], notes: Mapping[str, Sequence[str]]
) -> list[Table]:
    """All tables that the runs have something for. `notes` are lines about each label; `order` is of the tasks."""
    found = []
    grouped = cells(runs)
    for label in dict.fromkeys(cell.label for cell in grouped):
        own = [cell for cell in grouped if cell.label == label]
        plain = [cell for cell in own if not _scale(cell.runs[0][0])]
        for layout in LAYOUTS:
            wanted = [c for c in plain if c.model in layout.models and c.autoregressive == layout.autoregressive]
            if layout.max_table == "table_b2" and {cell.model for cell in wanted} <= {"stack_rnn"}:
                continue  # it repeats the Stack-RNN for comparison only
            if wanted:
                found.extend(_table(wanted, layout, label, order, notes.get(label, ())))
        found.extend(_scaling([cell for cell in own if _scale(cell.runs[0][0])], label, order))
    return found


def _table(
    found: Sequence[Cell], layout: Layout, label: str, order: Sequence[str], notes: Sequence[str]
) -> list[Table]:
    """The best members, and mean and deviation over the seeds that share the best one's settings."""
    by_place = {(cell.task, cell.model): cell for cell in found}
    models = [name for name in layout.models if any(cell.model == name for cell in found)]
    columns = ("Level", "Task", "Chance", *(column for name in models for column in (TITLES[name], "paper")))
    best_rows, mean_rows, remarks, members, seeds = [], [], [], set(), set()
    for task in order:
        if not any(cell.task == task for cell in found):
            continue
        language: AbstractTransduction = tasks.get(f"chomsky/{task}")()  # pyright: ignore[reportAssignmentType]
        head = [language.level.value, task, f"{100 * language.chance:.0f}"]
        best, mean = [*head], [*head]
        for name in models:
            cell = by_place.get((task, name))
            summary = cell and cell.summary()
            if cell is None or summary is None:
                best += ["–" if cell is None else "diverged", "–"]
                mean += ["–", "–"]
                continue
            run, over_seeds = cell.runs[0][0], cell.over_seeds()
            members.add(summary.members)
            seeds.add(over_seeds.members)
            mark = "*" if summary.max >= SOLVED else " "
            best += [f"{summary.max:.1f}{mark}", _text(printed_value(run, "max", layout.max_table))]
            deviation = f" ± {over_seeds.std:.1f}" if over_seeds.members > 1 else ""
            mean += [f"{over_seeds.mean:.1f}{deviation}", _deviation(run, layout.mean_table)]
            if cell.swept():
                remarks.append(f"{task} {TITLES[name]}: {cell.swept()}")
        best_rows.append(tuple(best))
        mean_rows.append(tuple(mean))
    title = f"chomsky, {label}{', autoregressive' if layout.autoregressive else ''}"
    first = f"Best of {counted(members, 'member')}, * solved (>= {SOLVED:.0f}). Paper: {_number(layout.max_table)}."
    second = f"Over {counted(seeds, 'seed')} with the best member's settings. Paper: {_number(layout.mean_table)}."
    swept = [f"Best settings: {'; '.join(remarks)}."] if remarks else []
    return [
        Table(title, columns, tuple(best_rows), (first, *swept, *notes)),
        Table(f"{title}: mean ± deviation", columns, tuple(mean_rows), (second,)),
    ]


def _number(table: str | None) -> str:
    return f"Table {str(table).removeprefix('table_').upper()}"


def _scaling(found: Sequence[Cell], label: str, order: Sequence[str]) -> list[Table]:
    """Table B.6: a row per task, a column per number of layers and of steps."""
    if not found:
        return []
    scales = sorted({scale for cell in found if (scale := _scale(cell.runs[0][0]))})
    columns = ["Task", *(c for layers, steps in scales for c in (f"{layers} layers, {steps:,} steps", "paper"))]
    rows = []
    for task in order:
        row = [task]
        for scale in scales:
            cell = next((c for c in found if c.task == task and _scale(c.runs[0][0]) == scale), None)
            summary = cell and cell.summary()
            row += [
                f"{summary.max:.1f}{'*' if summary.max >= SOLVED else ' '}" if summary else "–",
                _text(printed_value(cell.runs[0][0], "max")) if cell else "–",
            ]
        if any(text != "–" for text in row[1:]):
            rows.append(tuple(row))
    note = f"Transformer encoder, relative positions; best member, * solved (>= {SOLVED:.0f}). Paper: Table B6."
    return [Table(f"chomsky, {label}, scaling", tuple(columns), tuple(rows), (note,))]


def _scale(run: Run) -> tuple[int, int] | None:
    """Layers and steps, if the run belongs into the table of scaling (appendix B.8) and not into Table 2."""
    if run.model != "transformer_encoder" or run.setting["model"].get("positions") != "relative":
        return None
    scale = run.setting["model"]["num_layers"], run.setting["steps"]
    printed = {(int(row["layers"]), int(row["training_steps"])) for row in published.rows("chomsky") if row["layers"]}
    return scale if scale in printed and scale != (5, 1_000_000) else None


def _flat(setting: Mapping[str, Any]) -> dict[str, Any]:
    return {**{key: value for key, value in setting.items() if key != "model"}, **setting["model"]}


def _text(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _deviation(run: Run, table: str | None) -> str:
    mean, std = (table and printed_value(run, statistic, table) for statistic in ("mean", "std"))
    return "–" if not isinstance(mean, float) or not isinstance(std, float) else f"{mean:.1f} ± {std:.1f}"
