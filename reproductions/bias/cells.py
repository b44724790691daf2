"""The tables of README.md: our shares beside the paper's, with Fisher's exact test; our description lengths beside its.

    python reproductions/bias/cells.py

From `members.jsonl` and `printed.json`. p says how likely shares that differ as much are, if both come from one
distribution. The paper's counts are its shares of the learners that fit. Table 2 says in two rows how many these are.
Of the other rows the caption of Table 3 says that at least 70% fit: p is computed for 70 and for 100 of 100 seeds.
Where the paper gives only a bound, so does the table. Description lengths have 95% intervals (bootstrap over seeds).
"""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from humboldt.measures.bias import fisher
from humboldt.published import lookup
from humboldt.suites import catalogue, suites
from humboldt.suites.bias.printed import (
    MAIN_TABLES,
    SEEDS,
    Printed,
    fits_behind,
    has_fewer_seeds,
    printed,
    published_number,
)
from humboldt.suites.bias.protocol import LEARNERS
from humboldt.suites.bias.tables import rules_of, summarise
from humboldt.suites.cells import Cell, sort_results
from humboldt.suites.reading import stored

HERE = Path(__file__).parent


class Share(NamedTuple):
    """How many of those that fit the training set follow a rule, in one cell."""

    task: str
    size: int
    model: str
    precision: str
    rule: str
    seeds: int
    fit: int
    agree: int

    @property
    def paper(self) -> Printed | None:
        """The number of the paper."""
        criteria = {"task": self.task, "model": self.model, "rule": self.rule, "metric": "FPA"}
        return published_number(MAIN_TABLES[self.task], str(self.size), criteria)

    @property
    def p(self) -> dict[int, float]:
        """Of Fisher's exact test, for each number of the paper's learners that may have fit."""
        paper = self.paper
        if paper is None or paper.bound:
            return {}
        return {fit: fisher(self.agree, self.fit, paper.value, fit) for fit in fits_behind(paper, SEEDS)}


def main_cells() -> list[Cell]:
    """The cells of Tables 1, 2 and 7: of the paper's sizes, trained and measured as its text says."""
    suite = suites.get("bias")
    found = [cell for cells in sort_results(suite, stored(HERE.parent, "bias")).cells.values() for cell in cells]
    others = ("updates", "optimiser", "moments", "vocabulary", "curve_block")
    return [
        cell
        for cell in found
        if cell.task in MAIN_TABLES
        and cell.model in LEARNERS
        and not has_fewer_seeds(cell)
        and not any(name in others for name, _ in cell.heading.changes)
    ]


def shares() -> Iterator[Share]:
    """All of them, in the order of the paper."""
    suite = suites.get("bias")
    found = []
    for cell in main_cells():
        if cell.task != "scan_jump":  # which has accuracies instead
            setting, summary = cell.scores[0].training.setting, summarise(cell)
            counts = {**summary.agreeing}
            for rule in rules_of(cell):
                place = cell.task, cell.place[0], cell.model, setting["precision"]
                found.append(Share(*place, rule, summary.members, summary.counted, counts[rule]))
    for cell in json.loads((HERE / "printed.json").read_text(encoding="utf-8"))["cells"]:
        for rule, value in cell["FPA"].items():
            place = cell["task"], cell["size"], cell["model"], cell["products"]
            found.append(Share(*place, rule, cell["seeds"], cell["fit"], round(value * cell["fit"])))
    models = list(suite.contenders)
    yield from sorted(
        found, key=lambda s: (list(MAIN_TABLES).index(s.task), models.index(s.model), -s.size, s.precision)
    )


def row(share: Share) -> list[str]:
    """One line of the table."""
    suite, paper = suites.get("bias"), share.paper
    value = share.agree / share.fit
    return [
        *(share.task, str(share.size), catalogue.contender(suite, share.model).title, share.precision, share.rule),
        f"{share.fit} of {share.seeds}",
        *(str(share.agree), f"{value:.2f}"),
        "–" if paper is None else str(paper),
        "; ".join(f"{p:.2g} ({fit})" for fit, p in sorted(share.p.items(), reverse=True)),
    ]


def lengths() -> Iterator[list[str]]:
    """The lines of the second table: description lengths of each cell and rule, with the paper's. A star is its own."""
    suite, models, tasks = suites.get("bias"), list(suites.get("bias").contenders), list(MAIN_TABLES)
    for cell in sorted(main_cells(), key=lambda cell: (tasks.index(cell.task), models.index(cell.model))):
        report = summarise(cell).lengths
        if report is None:
            continue
        preferred = report.everyone.preferred(1e-3)
        for rule in report.everyone.rules:
            assert rule.interval is not None, "there is one seed only"
            low, high = (bound / math.log(2) for bound in (rule.interval.low, rule.interval.high))
            paper = printed(cell, rule.rule, "L")
            place = {"paper_table": MAIN_TABLES[cell.task], "parameter_value": str(cell.place[0])}
            star = lookup("bias", "significant", **place, model=cell.model, rule=rule.rule, metric="L") == "true"
            yield [
                *(
                    cell.task,
                    str(cell.place[0]),
                    catalogue.contender(suite, cell.model).title,
                    str(report.everyone.seeds),
                ),
                *(rule.rule, f"{rule.nats:.2f}", f"{rule.bits:.2f} ({low:.1f} to {high:.1f})"),
                "–" if paper is None else f"{paper}{'*' * star}",
                "lowest" if rule.rule == preferred else "",
            ]


def main() -> None:
    """Prints the tables in Markdown."""
    for line in (*map(row, shares()), [], *lengths()):
        print(f"| {' | '.join(line)} |" if line else "")


if __name__ == "__main__":
    main()
