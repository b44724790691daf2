"""Records of the syntax suite, and the paper's Table 2 with our numbers beside it."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from humboldt import published
from humboldt.core.identity import Evaluation, Training
from humboldt.core.results import Result, State
from humboldt.measures import accuracy
from humboldt.report.tables import MissingCell, Record, Table, TableCell, TableEntry
from humboldt.report.words import counted
from humboldt.suites import catalogue
from humboldt.suites.cells import Cell, MeasureValues, SettingGroup, order_of

if TYPE_CHECKING:
    from humboldt.suites.syntax.suite import Syntax

CAPTURED = 90.0  # percent, exclusive; section 3 of the paper
SPLIT_TITLES = {"in_dist": "in-dist", "out_of_dist": "out-of-dist"}  # measure -> name of the split in the paper
PRINTED_COUNTS = {
    "transformer_encoder": "1.32M",
    "transformer_decoder": "1.32M",
    "bilstm": "791k",
    "lstm": "1.05M",
}  # section 2.3


def place(training: Training, evaluation: Evaluation) -> tuple[Any, ...]:
    """Returns the size of the vocabulary and the distribution of its words, which the paper's tables distinguish."""
    del evaluation
    return training.setting["terminals"], training.setting["distribution"]


def records(cell: Cell) -> list[Record]:
    """Returns the flat records of one cell.

    `max` is the paper's score. `selected` is the accuracy of the member that is best on the validation split; unlike
    `max`, it is not inflated by the choice among members. Measures that end in `_shortcut` are the best accuracy
    of a classifier without structure on the same strings.
    """
    all_records = []
    setting = setting_of(cell)

    def add(measure: str, statistic: str, value: float, members: int, beside: float | None) -> None:
        all_records.append(
            Record(
                suite="syntax",
                task=cell.task,
                model=cell.model,
                setting=setting,
                measure=measure,
                statistic=statistic,
                value=value,
                members=members,
                published=beside,
            )
        )

    finished = [result for _, _, result in cell.finished("validation")]
    for measure in SPLIT_TITLES if finished else ():
        summary = accuracy.summarise(percents(cell, measure))
        selected = max(finished, key=lambda result: result.measures["validation"])
        values = {"max": summary.max, "mean": summary.mean, "std": summary.std}
        values["selected"] = 100 * selected.measures[measure]
        for statistic, value in values.items():
            beside = published_accuracy(cell, measure) if statistic == "max" else None
            add(measure, statistic, value, summary.members, beside)
        if "shortcuts" in finished[0].detail:
            add(f"{measure}_shortcut", "max", best_shortcut(finished[0], measure)[1], summary.members, None)
    return all_records


def setting_of(cell: Cell) -> str:
    """Returns heading and place of a cell, as in its records."""
    terminals, distribution = cell.place
    return f"{cell.heading}, terminals={terminals}, {distribution}"


def is_captured(percent: float) -> bool:
    """Returns whether an accuracy counts as success."""
    return percent > CAPTURED


def measured(cell: Cell) -> list[MeasureValues]:
    """Returns the accuracies of all members, out of distribution first; the paper prints the best."""
    return [
        MeasureValues(
            measure=measure,
            setting=setting_of(cell),
            values=tuple(values),
            is_solved=is_captured,
            published=published_accuracy(cell, measure),
            scale=100.0,
        )
        for measure in reversed(SPLIT_TITLES)
        if (values := percents(cell, measure))
    ]


def percents(cell: Cell, measure: str) -> list[float]:
    """Returns the accuracies of all members that have one, in percent."""
    return [100 * value for value, _, _ in cell.finished(measure)]


def best_shortcut(result: Result, measure: str) -> tuple[str, float]:
    """Returns the best classifier without structure on these strings, and its accuracy in percent."""
    audit: Mapping[str, float] = result.detail["shortcuts"][measure]
    classifier = max(audit, key=lambda name: audit[name])
    return classifier, 100 * audit[classifier]


def published_accuracy(cell: Cell, measure: str) -> float | None:
    """Returns the number in Table 2. Table 3, for the uniform distribution, only repeats Table 2."""
    terminals, distribution = cell.place
    printed = published.lookup(
        "syntax",
        "accuracy",
        paper_table="table_2",
        language=cell.task,
        terminals=str(terminals),
        distribution=distribution,
        architecture=cell.model,
        split=SPLIT_TITLES[measure],
    )
    return None if printed is None else float(printed)


def layout(suite: "Syntax", heading: SettingGroup, cells: Sequence[Cell]) -> list[Table]:
    """Returns a table of the best members with the paper's numbers, and one of means over members."""
    title = f"syntax, {heading}"
    all_tables = [_table(suite, title, cells, _best, with_paper=True, notes=_notes(suite, cells))]
    if any(len(cell.members()) > 1 for cell in cells):
        all_tables.append(_table(suite, f"{title}: mean ± deviation over members", cells, _mean, with_paper=False))
    return all_tables


def _best(cell: Cell, measure: str) -> TableCell:
    best = max(percents(cell, measure))
    return TableCell(
        value=best,
        form=".2f",
        mark="*" if is_captured(best) else " ",
        cell=cell.key,
        published=published_accuracy(cell, measure),
        scale=100.0,
        is_solved=is_captured(best),
    )


def _mean(cell: Cell, measure: str) -> TableCell:
    summary = accuracy.summarise(percents(cell, measure))
    deviation = summary.std if summary.members > 1 else None
    return TableCell(value=summary.mean, form=".2f", deviation=deviation, cell=cell.key, scale=100.0)


def _table(
    suite: "Syntax",
    title: str,
    cells: Sequence[Cell],
    shown: Callable[[Cell, str], TableCell],
    *,
    with_paper: bool,
    notes: Sequence[str] = (),
) -> Table:
    names = [name for name in order_of(suite, cells) if any(cell.model == name for cell in cells)]
    titles = [[catalogue.contender(suite, name).title, *(["paper"] if with_paper else [])] for name in names]
    columns = ["Language", "T", "Drawn", "Test", *(title for group in titles for title in group)]
    rows = []
    for where in dict.fromkeys((cell.task, cell.place) for cell in cells):
        here = {cell.model: cell for cell in cells if (cell.task, cell.place) == where}
        task, (terminals, distribution) = where
        for measure, split in SPLIT_TITLES.items():
            row: list[TableEntry] = [task, TableCell(value=terminals), distribution, split.split("-")[0]]
            shortcut = None
            for name in names:
                cell = here.get(name)
                has_scores = cell is not None and bool(percents(cell, measure))
                if cell is None:
                    row.append(MissingCell(task, name))
                else:
                    row.append(shown(cell, measure) if has_scores else cell.without_score())
                if with_paper:
                    printed = published_accuracy(cell, measure) if cell else None
                    row.append(TableCell(value=printed, form=".2f"))
                if cell and has_scores and "shortcuts" in cell.finished(measure)[0][2].detail:
                    _, shortcut = best_shortcut(cell.finished(measure)[0][2], measure)
            rows.append((*row, TableCell(value=shortcut, form=".2f")) if with_paper else tuple(row))
    return Table(title, (*columns, *(["Shortcut"] if with_paper else [])), tuple(rows), tuple(notes))


def _notes(suite: "Syntax", cells: Sequence[Cell]) -> list[str]:
    counts = {len(percents(cell, "in_dist")) for cell in cells} - {0}
    scores = cells[0].scores[0]
    protocol = {**scores.training.setting, **scores.evaluation.setting}
    spans = ["{}..{}".format(*protocol[name]) for name in ("lengths", "long_lengths")]
    sizes = [f"{2 * protocol[name]:,}" for name in ("test", "long")]
    best_of = f"; best of {counted(counts, 'member')}" if counts else ""
    notes = [
        f"Accuracy in percent on {sizes[0]} strings of length {spans[0]} (in) and {sizes[1]} of {spans[1]} (out)"
        f"{best_of}. * captured (> {CAPTURED:.0f}). Chance 50. Paper: Table 2.",
        "Shortcut: the best classifier that knows no structure (lengths, ends, neighbours, counts of symbols and of "
        "their categories) on the same strings. An accuracy below it can be reached without syntax.",
    ]
    if any(cell.place[1] == "uniform" for cell in cells):
        notes.append(
            "The paper's table for the uniform distribution (Table 3) repeats Table 2 in every cell. So no "
            "number of the paper is shown beside ours."
        )
    bodies = {}
    for cell in cells:
        results = [r for scores in cell.scores for r in scores.results if r.state is State.FINISHED]
        if results and results[0].detail.get("parameters"):
            bodies[cell.model] = results[0].detail["parameters"]["body"]
    if bodies:
        words = [
            f"{catalogue.contender(suite, name).title} {_thousands(count)}{_printed(name)}"
            for name, count in bodies.items()
        ]
        notes.append(f"Parameters without word vectors and output layer: {', '.join(words)}.")
    return notes


def _printed(model: str) -> str:
    return f" (paper {PRINTED_COUNTS[model]})" if model in PRINTED_COUNTS else ""


def _thousands(count: int) -> str:
    return f"{count / 1e6:.2f}M" if count >= 1e6 else f"{count / 1e3:.0f}k"
