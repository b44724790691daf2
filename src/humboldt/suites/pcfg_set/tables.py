"""Table 1 of Hupkes et al. (2020), ours beside theirs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from humboldt.report.tables import Record, Table
from humboldt.suites.cells import Cell, Heading

if TYPE_CHECKING:
    from humboldt.suites.pcfg_set import PcfgSet


def records(cell: Cell) -> list[Record]:
    """The flat records of one cell."""
    names = sorted({name for scores in cell.scores for result in scores.results for name in result.measures})
    found = []
    for name in names:
        values = [value for value, _, _ in cell.finished(name)]
        about = "pcfg_set", cell.task, cell.model, f"{cell.heading} {cell.scores[0].evaluation.name}"
        found.append(Record(*about, name, "mean", sum(values) / len(values), len(values), None))
    return found


def layout(suite: "PcfgSet", heading: Heading, cells: Sequence[Cell]) -> list[Table]:
    """All records."""
    rows = [(r.task, r.model, r.setting, r.measure, f"{r.value:.3f}") for cell in cells for r in records(cell)]
    return [Table(f"pcfg_set, {heading}", ("Test", "Model", "Setting", "Measure", "Mean"), tuple(rows))]
