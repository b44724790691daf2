"""Tables with the numbers of later papers beside ours, for results with exactly their settings."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from humboldt import published
from humboldt.core.identity import Training
from humboldt.measures.accuracy import scaled
from humboldt.report.tables import Table, TableCell
from humboldt.suites.cells import Cell, SettingGroup
from humboldt.suites.chomsky.other_papers import (
    NETWORKS,
    OTHER_PAPERS,
    PRINTED_ELSEWHERE,
    PRINTED_TASKS,
    Printed,
)
from humboldt.suites.networks_of_papers import NetworkOfPaper

if TYPE_CHECKING:
    from humboldt.suites.chomsky.suite import Chomsky

REDUCERS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "best": max,
    "mean": statistics.fmean,
    "median": statistics.median,
}


def comparable(name: str) -> list[dict[str, str]]:
    """Returns the rows of `published/modern.csv` of a preset's paper that are neither doubtful nor second-hand."""
    return [
        row
        for row in published.rows("modern")
        if row["paper"].startswith(PRINTED_ELSEWHERE[name].paper)
        and not row["doubt"]
        and row["second_hand"] == "no"
        and row["statistic"] in PRINTED_ELSEWHERE[name].statistics
    ]


def network_of_paper(preset: str, name: str, training: Training) -> NetworkOfPaper | None:
    """Returns the network of a paper's row, if that of the training has exactly its settings."""
    return next((each for each in NETWORKS.get((preset, name), ()) if each.is_that_of(training)), None)


def printed_number(preset: str, training: Training, statistic: str) -> tuple[float, NetworkOfPaper] | None:
    """Returns the paper's number for this task, network and statistic; `None` if its network has other settings."""
    for row in comparable(preset):
        if row["task"] != PRINTED_TASKS.get(training.task):
            continue
        if PRINTED_ELSEWHERE[preset].statistics[row["statistic"]] != statistic:
            continue
        network = network_of_paper(preset, row["model"], training)
        if network is not None:
            return float(row["value"]), network
    return None


def selected(cell: Cell, reduce: Callable[[Sequence[float]], float]) -> tuple[float, int]:
    """Returns the largest value of `reduce` over the seeds of one rate and training, and the number of its seeds."""
    groups: dict[tuple[str, object], list[float]] = {}
    for value, training, result in cell.finished("score"):
        groups.setdefault((training.key, result.member.get("learning_rate")), []).append(value)
    best = max(groups.values(), key=reduce)
    return reduce(best), len(best)


def beside_other_papers(suite: "Chomsky", heading: SettingGroup, cells: Sequence[Cell]) -> list[Table]:
    """Returns a table for a preset of a later paper: our statistics, with and without selection, and the paper's.

    Selection takes the learning rate with the largest value on the reported lengths. Without selection all members
    count. The paper's number is only shown if no setting differs from the preset, and the network is the paper's.
    """
    preset = suite.presets.get(heading.preset)
    if heading.preset not in OTHER_PAPERS or preset is None:
        return []
    printed: Printed = PRINTED_ELSEWHERE[heading.preset]
    is_same = not [key for key, _ in heading.changes if key not in _of_models(cells)]
    rows, of_networks = [], {}
    for cell in cells:
        values = [value for value, _, _ in cell.finished("score")]
        if not values:
            continue
        training = cell.scores[0].training
        task = suite.make_task(cell.task, None, training.setting.get("task", {}))

        def shown(value: float, chance: float = task.chance) -> float:
            return scaled(value, chance) if printed.scaled else 100 * value

        form = ".3f" if printed.scaled else ".1f"
        for statistic in dict.fromkeys(["best", "mean", *printed.statistics.values()]):
            value, seeds = selected(cell, REDUCERS[statistic])
            found = printed_number(heading.preset, training, statistic) if is_same and len(cell.scores) == 1 else None
            theirs = None if found is None else found[0]
            if found is not None:
                of_networks |= {f"Departure, {cell.model}: {each}.": None for each in found[1].departures}
            rows.append(
                (
                    cell.task,
                    cell.model,
                    statistic,
                    TableCell(value=shown(value), form=form, cell=cell.key, published=theirs),
                    TableCell(value=seeds),
                    TableCell(value=shown(REDUCERS[statistic](values)), form=form),
                    TableCell(value=len(values)),
                    TableCell(value=theirs, form=form),
                )
            )
    if not rows:
        return []
    measure = "Scaled accuracy (0 chance, 1 perfect)" if printed.scaled else "Accuracy in percent"
    columns = ("Task", "Model", "Statistic", "selected", "seeds", "all members", "members", "paper")
    notes = (
        f"{measure}. Selected: the learning rate is chosen on the reported lengths. Paper: {preset.source}.",
        *(f"Departure: {departure}." for departure in preset.departures),
        *of_networks,
    )
    return [Table(f"chomsky, {heading}: beside {preset.source.split(',')[0]}", columns, tuple(rows), notes)]


def _of_models(cells: Sequence[Cell]) -> set[str]:
    """Returns the names of all settings of the cells' models, which presets do not choose."""
    return {key for cell in cells for scores in cell.scores for key in scores.training.setting["model"]}
