"""Records of the recognition suite, and a table of accuracies with the paper's where they are known."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from humboldt import published
from humboldt.core.results import Result
from humboldt.measures.accuracy import summarise
from humboldt.report.tables import MissingCell, Record, Table, TableCell, TableEntry
from humboldt.report.words import counted
from humboldt.suites import catalogue, resolving
from humboldt.suites.cells import Cell, MeasureValues, SettingGroup, order_of
from humboldt.suites.recognition.protocol import SCORED

if TYPE_CHECKING:
    from humboldt.suites.recognition.suite import Recognition

SOLVED = 90.0  # percent; our choice, since the paper has no such threshold


def percents(cell: Cell, measure: str) -> list[float]:
    """Returns the accuracies of all members that have one, in percent."""
    return [100 * value for value, _, _ in cell.finished(measure)]


def is_solved(percent: float) -> bool:
    """Returns whether an accuracy counts as success."""
    return percent >= SOLVED


def best_shortcut(result: Result, split: str) -> tuple[str, float] | None:
    """Returns the best classifier without structure on the same strings, and its accuracy in percent."""
    audit: Mapping[str, float] = result.detail.get("shortcuts", {}).get(split, {})
    if not audit:
        return None
    classifier = max(audit, key=lambda name: audit[name])
    return classifier, 100 * audit[classifier]


def published_mean(cell: Cell) -> float | None:
    """Returns the mean test accuracy of the paper in percent, if it is known."""
    text = published.lookup("recognition", "value", task=cell.task, architecture=cell.model, statistic="mean")
    return None if text is None else 100 * float(text)


def selected(cell: Cell, validation: str) -> Result:
    """Returns the member that is best on a validation set."""
    return max(cell.finished(validation), key=lambda scored: scored[0])[2]


def records(cell: Cell) -> list[Record]:
    """Returns flat records of one cell.

    `selected_short` and `selected_long` are the accuracies of the members that are best on the short and on the long
    validation set. Measures that end in `_shortcut` are the best accuracy of a classifier without structure.
    """
    rows: list[tuple[str, str, float, float | None]] = []
    for measure in SCORED:
        values = percents(cell, measure)
        if not values:
            continue
        summary = summarise(values)
        beside = published_mean(cell) if measure == "test" else None
        rows += [(measure, "max", summary.max, None), (measure, "mean", summary.mean, beside)]
        rows.append((measure, "std", summary.std, None))
        for which in ("short", "long"):
            if measure == "test" and cell.finished(f"validation_{which}"):
                value = 100 * selected(cell, f"validation_{which}").measures["test"]
                rows.append((measure, f"selected_{which}", value, None))
        if shortcut := best_shortcut(cell.finished(measure)[0][2], measure):
            rows.append((f"{measure}_shortcut", "max", shortcut[1], None))
    return [
        Record(
            suite="recognition",
            task=cell.task,
            model=cell.model,
            setting=str(cell.heading),
            measure=measure,
            statistic=statistic,
            value=value,
            members=len(percents(cell, measure.removesuffix("_shortcut"))),
            published=beside,
        )
        for measure, statistic, value, beside in rows
    ]


def measured(cell: Cell) -> list[MeasureValues]:
    """Returns the accuracies of all members in percent, the test first."""
    return [
        MeasureValues(
            measure=measure,
            setting=str(cell.heading),
            values=tuple(values),
            is_solved=is_solved,
            published=published_mean(cell) if measure == "test" else None,
            is_mean=True,
            scale=100.0,
        )
        for measure in reversed(SCORED)
        if (values := percents(cell, measure))
    ]


def layout(suite: "Recognition", heading: SettingGroup, cells: Sequence[Cell]) -> list[Table]:
    """Returns the table of test accuracies: mean and best of each model, the paper's mean, and the best shortcut."""
    models = [name for name in order_of(suite, cells) if any(cell.model == name for cell in cells)]
    titles = {name: catalogue.contender(suite, name).title for name in models}
    columns = ["Language", *(c for name in models for c in (titles[name], "best", "paper")), "Shortcut"]
    rows = []
    for task in dict.fromkeys(cell.task for cell in cells):
        row: list[TableEntry] = [task]
        shortcut = None
        for name in models:
            cell = next((cell for cell in cells if (cell.task, cell.model) == (task, name)), None)
            if cell is None or not percents(cell, "test"):
                empty = MissingCell(task, name) if cell is None else cell.without_score()
                row += [empty, TableCell(), TableCell()]
                continue
            row += _entries(cell)
            found = best_shortcut(cell.finished("test")[0][2], "test")
            shortcut = found[1] if found else shortcut
        rows.append((*row, TableCell(value=shortcut, form=".1f")))
    return [Table(f"recognition, {heading}", tuple(columns), tuple(rows), tuple(_notes(suite, cells)))]


def _entries(cell: Cell) -> list[TableEntry]:
    summary, theirs = summarise(percents(cell, "test")), published_mean(cell)
    solved = is_solved(summary.max)
    return [
        TableCell(
            value=summary.mean,
            form=".1f",
            deviation=summary.std if summary.members > 1 else None,
            cell=cell.key,
            published=theirs,
            scale=100.0,
        ),
        TableCell(value=summary.max, form=".1f", mark="*" if solved else " ", scale=100.0, is_solved=solved),
        TableCell(value=theirs, form=".1f"),
    ]


def _notes(suite: "Recognition", cells: Sequence[Cell]) -> list[str]:
    scores = cells[0].scores[0]
    protocol = resolving.resolve(suite, scores.training, scores.evaluation).protocol
    members = sorted({len(percents(cell, "test")) for cell in cells} - {0})
    of = f" over {counted(members, 'member')}" if members else ""
    return [
        f"Accuracy in percent on {protocol.test:,} strings of at most {protocol.longest_test} symbols: mean{of}, and "
        f"the best; * at least {SOLVED:.0f}. Chance 50. Trained on strings of at most {protocol.longest} symbols.",
        "Shortcut: the best classifier that knows no structure (lengths, ends, neighbours, counts of symbols) on the "
        "same strings. Paper: the mean of ten trials as a third party quotes it; the paper's tables could not be read.",
    ]
