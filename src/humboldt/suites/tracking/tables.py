"""Records of the word problems, and one table: a row for each group and kind of input, with published numbers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from humboldt import published
from humboldt.core.identity import Evaluation, Training
from humboldt.core.results import Result
from humboldt.languages import tasks
from humboldt.measures.accuracy import summarise
from humboldt.report.tables import MissingCell, Record, Table, TableCell, TableEntry
from humboldt.report.words import counted
from humboldt.settings import plain
from humboldt.suites import catalogue, resolving
from humboldt.suites.cells import Cell, MeasureValues, SettingGroup, order_of
from humboldt.suites.experiments import Variation
from humboldt.suites.networks_of_papers import NetworkOfPaper
from humboldt.suites.own_tasks import RememberedTask
from humboldt.suites.tracking.protocol import NETWORKS, PAPERS

if TYPE_CHECKING:
    from humboldt.suites.tracking.suite import Tracking

SOLVED = 90.0  # percent of right states
VARIED = ("inputs", "tokens_per_step")  # Grazzi et al. print several values of these
PRINTED_LENGTHS = (40, 256)  # of the test strings in Table 3 of Terzić et al.
PRINTED_TITLES = {
    "complex_diagonal": "C diagonal",
    "gated_delta_product": "Gated DeltaProduct",
    "pd_ssm": "PD-SSM",
}  # Terzić et al., Table 3


def place(training: Training, evaluation: Evaluation) -> tuple[Any, ...]:
    """Returns the elements of the strings (a kind, and a number for generators), the tokens of a symbol, the steps with
    answers, and the longest length in training."""
    del evaluation
    task = training.setting["task"]
    inputs = task.get("inputs", "all")  # an automaton from a file has one kind of input
    number = task["generators"] if inputs == "generators" else 0
    return inputs, number, task["tokens_per_step"], task["supervision"], training.setting["longest"]


def words(place: tuple[Any, ...]) -> str:
    """Returns the kind of input of a cell in words.

    >>> words(("generators", 6, 1, "last", 40))
    '6 generators, last step'
    """
    inputs, number, tokens, supervision, _ = place
    kind = f"{number} generators" if inputs == "generators" else {"up_to_3": "up to 3 moved"}.get(inputs, inputs)
    parts = [kind, f"{tokens} tokens" if tokens > 1 else "", "last step" if supervision == "last" else ""]
    return ", ".join(filter(None, parts))


def variation(training: Training) -> Variation | None:
    """Returns the setting of Merrill, Grazzi or Siems et al. if the training has their lengths."""
    lengths = training.setting["shortest"], training.setting["longest"]
    for settings in PAPERS.values():
        if lengths[0] == settings["shortest"] and lengths[1] in settings["longest"]:
            task = training.setting["task"]
            others = {"learning_rates"} if "inputs" in task else {"learning_rates", "inputs"}
            fixed = {key: plain(value) for key, value in settings.items() if key not in others}
            varied = {key: task[key] for key in (*VARIED, "generators") if key in task}
            return Variation(
                {**fixed, **varied, "longest": lengths[1]},
                seeds=3,
                members={"learning_rate": settings["learning_rates"]},
            )
    return None


def num_states(task: str) -> int | None:
    """Returns the number of states; `None` for an automaton whose file is not known."""
    made = tasks.get(f"tracking/{task}")()
    return None if isinstance(made, RememberedTask) else len(made.output_alphabet)


def setting_of(cell: Cell) -> str:
    """Returns heading and place of a cell, as in its records."""
    return f"{cell.heading}, {words(cell.place)}, longest={cell.place[-1]}"


def percents(cell: Cell, measure: str) -> list[float]:
    """Returns the values of all members: percent, or symbols for `longest`."""
    factor = 1 if measure == "longest" else 100
    return [factor * value for value, _, _ in cell.finished(measure)]


def best(cell: Cell) -> tuple[float, Training, Result]:
    """Returns the member with the most right states."""
    return max(cell.finished("symbols"), key=lambda scored: scored[0])


def is_solved(percent: float) -> bool:
    """Returns whether a share of right states counts as success."""
    return percent >= SOLVED


def fewest_layers(cell: Cell) -> int | None:
    """Returns the fewest layers with which some member has more than 90% right, if models differ in their layers."""
    layers = [
        (training.setting["model"].get("num_layers"), 100 * value) for value, training, _ in cell.finished("symbols")
    ]
    if len({number for number, _ in layers}) < 2:
        return None
    return min((number for number, value in layers if number is not None and value > SOLVED), default=None)


def published_value(task: str, place: tuple[Any, ...], architecture: str, layers: str) -> float | None:
    """Returns the number of Terzić et al., Table 3, for a group and a number of generators, with answers at the end of
    strings of up to 40 elements."""
    inputs, number, tokens, supervision, longest = place
    if (inputs, tokens, supervision, longest) != ("generators", 1, "last", 40):
        return None
    criteria = {"task": task, "generators": str(number), "architecture": architecture, "layers": layers}
    text = published.lookup("tracking", "value", **criteria)
    return None if text is None else float(text)


def network_of_paper(cell: Cell) -> tuple[tuple[str, str], NetworkOfPaper] | None:
    """Returns architecture and layers of the paper's network that all trainings of a cell have, if they have one."""
    for which, network in NETWORKS.items():
        if all(network.is_that_of(scores.training) for scores in cell.scores):
            return which, network
    return None


def has_printed_lengths(cell: Cell) -> bool:
    """Returns whether the test strings have the lengths of Table 3."""
    of_test = cell.scores[0].evaluation.setting
    return tuple(of_test["test_lengths"]) == PRINTED_LENGTHS and not of_test["test_at_longest"]


def published_for(cell: Cell) -> float | None:
    """Returns the paper's number for a cell with the network, elements, answers and lengths of a row of its table."""
    found = network_of_paper(cell)
    if found is None or not has_printed_lengths(cell):
        return None
    return published_value(cell.task, cell.place, *found[0])


def records(cell: Cell) -> list[Record]:
    """Returns flat records: best, mean and deviation of each measure, and the fewest layers that suffice."""
    rows: list[tuple[str, str, float, int]] = []
    for measure in ("symbols", "strings", "longest"):
        if values := percents(cell, measure):
            summary = summarise(values)
            statistics = {"max": summary.max, "mean": summary.mean, "std": summary.std}
            rows += [(measure, name, value, summary.members) for name, value in statistics.items()]
    if (layers := fewest_layers(cell)) is not None:
        rows.append(("layers", "fewest", float(layers), len(cell.finished("symbols"))))
    return [
        Record(
            suite="tracking",
            task=cell.task,
            model=cell.model,
            setting=setting_of(cell),
            measure=measure,
            statistic=statistic,
            value=value,
            members=members,
            published=published_for(cell) if (measure, statistic) == ("symbols", "max") else None,
        )
        for measure, statistic, value, members in rows
    ]


def measured(cell: Cell) -> list[MeasureValues]:
    """Returns the measures of all members in percent, right states first."""
    return [
        MeasureValues(
            measure=measure,
            setting=setting_of(cell),
            values=tuple(values),
            is_solved=is_solved,
            published=published_for(cell) if measure == "symbols" else None,
            scale=100.0,
        )
        for measure in ("symbols", "strings")
        if (values := percents(cell, measure))
    ]


def layout(suite: "Tracking", heading: SettingGroup, cells: Sequence[Cell]) -> list[Table]:
    """Returns the table of the best members, with three numbers for each model, and the published numbers."""
    models = [name for name in order_of(suite, cells) if any(cell.model == name for cell in cells)]
    places = list(dict.fromkeys((cell.task, cell.place) for cell in cells))
    printed = [
        (architecture, layers)
        for architecture in PRINTED_TITLES
        for layers in ("1", "2")
        if all(map(has_printed_lengths, cells))  # all have one heading, so one test
        and any(published_value(task, place, architecture, layers) is not None for task, place in places)
    ]
    columns = ["Group", "Size", "Inputs", "Trained to"]
    columns += [c for name in models for c in (catalogue.contender(suite, name).title, "strings", "longest")]
    columns += [f"{PRINTED_TITLES[name]}, {layers} (paper)" for name, layers in printed]
    rows, remarks = [], []
    for task, place in places:
        here = {cell.model: cell for cell in cells if (cell.task, cell.place) == (task, place)}
        size = TableCell(value=num_states(task))
        row: list[TableEntry] = [task, size, words(place), TableCell(value=place[-1])]
        for name in models:
            cell = here.get(name)
            if cell is None or not cell.finished("symbols"):
                empty = MissingCell(task, name) if cell is None else cell.without_score()
                row += [empty, TableCell(), TableCell()]
                continue
            row += _entries(cell)
            if (layers := fewest_layers(cell)) is not None:
                remarks.append(f"{task}, length {place[-1]}, {catalogue.contender(suite, name).title}: {layers}")
        row += [TableCell(value=published_value(task, place, *which), form=".1f") for which in printed]
        rows.append(tuple(row))
    return [Table(f"tracking, {heading}", tuple(columns), tuple(rows), tuple(_notes(suite, cells, printed, remarks)))]


def _entries(cell: Cell) -> list[TableEntry]:
    value, _, result = best(cell)
    solved = is_solved(100 * value)
    return [
        TableCell(
            value=100 * value,
            form=".1f",
            mark="*" if solved else " ",
            cell=cell.key,
            published=published_for(cell),
            scale=100.0,
            is_solved=solved,
        ),
        TableCell(value=100 * result.measures["strings"], form=".1f"),
        TableCell(value=result.measures["longest"], form=".0f"),
    ]


def _notes(suite: "Tracking", cells: Sequence[Cell], printed: Sequence[Any], remarks: Sequence[str]) -> list[str]:
    scores = cells[0].scores[0]
    lengths = resolving.resolve(suite, scores.training, scores.evaluation).protocol.scored_lengths()
    members = sorted({len(cell.finished("symbols")) for cell in cells} - {0})
    best_of = f", best of {counted(members, 'member')}" if members else ""
    notes = [
        f"Right states in percent, mean over {counted(len(lengths), 'length')} in {lengths[0]}..{lengths[-1]}"
        f"{best_of}; * at least {SOLVED:.0f}. strings: the share of strings without an error. longest: the longest "
        f"scored length up to which at least {SOLVED:.0f}% of the states are right."
    ]
    if remarks:
        notes.append(f"Fewest layers with more than {SOLVED:.0f}%: {'; '.join(remarks)}.")
    if printed:
        notes.append(
            "Paper: Terzić et al. 2025, Table 3, layers after the name: best of 3 seeds, trained on lengths up to 40, "
            "tested on 40..256. Which elements were used beside the two generators is not printed."
        )
    networks = {cell.model: found[1] for cell in cells if published_for(cell) and (found := network_of_paper(cell))}
    notes += [f"Departure, {model}: {each}." for model, network in networks.items() for each in network.departures]
    return notes
