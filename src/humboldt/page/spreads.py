"""Statistics over members for a page: the spread of each model, and differences between models."""

from collections.abc import Iterator, Sequence
from typing import Any

from humboldt.core.identity import canonical
from humboldt.measures.statistics import Spread, difference
from humboldt.page.content import Entry, Grid
from humboldt.settings import words
from humboldt.suites import catalogue
from humboldt.suites.base import AbstractSuite
from humboldt.suites.cells import Cell, MeasureValues

MOST_COMPARED = 60  # differences between models on a page: each takes some hundredths of a second
MOST_SPREADS = 600  # rows of statistics on a page


def spreads_of(suite: AbstractSuite, cells: Sequence[Cell], compared: Iterator[int]) -> Grid | None:
    """Returns statistics over members: one row for each cell and measure."""
    rows, left_out = [], 0
    with_lists = [(cell, values) for cell in cells for values in suite.presentation.measured(cell)]
    fewer = sorted({n for _, values in with_lists for n in values.spread.expected_best})
    shown = [n for n in fewer if n in (1, 5, 10, 20)] or fewer[:3]
    rivals = _rivals(with_lists)
    for cell, values in with_lists[:MOST_SPREADS]:
        spread = values.spread
        solved = "–" if spread.solved is None else f"{spread.solved.count} of {spread.solved.total}"
        if spread.solved is not None:
            solved += f" ({100 * spread.solved.low:.0f}–{100 * spread.solved.high:.0f}%)"
        mean = _number(spread.mean) + (f" ± {_number(spread.std)}" if spread.members > 1 else "")
        if spread.interval is not None:
            mean += f" [{_number(spread.interval.low)}, {_number(spread.interval.high)}]"
        rival = rivals[values.setting, values.task or cell.task, canonical(list(cell.place)), values.measure]
        apart = "–"
        if rival is values:
            apart = "highest mean"
        elif min(len(values.values), len(rival.values)) > 1:
            if next(compared) < MOST_COMPARED:
                against = difference(values.values, rival.values)
                apart = f"{_number(against.mean)} (p {_p(against.p)})"
            else:
                left_out += 1
        place = ", ".join([values.task or cell.task, *map(words, _parts_of_place(cell))])
        labels = [place, catalogue.contender(suite, cell.model).title, values.measure]
        expected = [_number(spread.expected_best.get(n)) for n in shown]
        rows.append(
            (
                *(Entry(text=label, is_words=True) for label in labels),
                Entry(text=f"{_number(spread.best)} of {spread.members}", key=cell.key),
                Entry(text=solved),
                *(Entry(text=number) for number in expected),
                Entry(text=mean),
                Entry(text=_number(spread.interquartile_mean)),
                Entry(text=apart, is_words=rival is values),
            )
        )
    if not rows:
        return None
    columns = (
        "Task",
        "Model",
        "Measure",
        "Best of N",
        "Solved (95% Wilson)",
        *(f"Best of {n}, expected" for n in shown),
        "Mean ± deviation [95% bootstrap]",
        "Interquartile mean",
        "From the highest mean",
    )
    notes = [
        "A best of N grows with N. The expected best of fewer is the mean over all choices of that many of these "
        "members (unbiased, Tang et al. 2020): compare models at the same number.",
        "From the highest mean: the difference of the means, and the two-sided p of an unpaired permutation test: "
        "members of different models cannot be paired.",
    ]
    more = len(with_lists) - len(rows)
    if more > 0:
        notes.append(f"{more:,} more rows are left out; `humboldt show --json` has all.")
    if left_out:
        notes.append(f"{left_out:,} more differences between models are left out.")
    return Grid("Statistics over members", columns, tuple(rows), tuple(notes))


def _parts_of_place(cell: Cell) -> list[Any]:
    return [part for part in cell.place if part not in ((), False, 0, "")]


def _rivals(cells: Sequence[tuple[Cell, MeasureValues]]) -> dict[tuple[str, str, str, str], MeasureValues]:
    """Returns the values with the highest mean for each row of a table."""
    best: dict[tuple[str, str, str, str], MeasureValues] = {}
    for cell, measured in cells:
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


def spread_lines(measured: MeasureValues) -> dict[str, Any]:
    """Returns the statistics of one measure of a cell, as lines of a name and a text."""
    spread: Spread = measured.spread
    lines = [(f"Best of {spread.members}", _number(spread.best))]
    if measured.published is not None:
        ours = spread.mean if measured.is_mean else spread.best
        kind = "mean" if measured.is_mean else "best"
        lines.append(("Paper", f"{measured.published:g}; our {kind} is {ours - measured.published:+.2f} from it"))
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
    return {"measure": measured.measure, "setting": measured.setting, "lines": lines}
