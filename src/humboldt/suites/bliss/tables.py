"""Table 2 of Lan et al. (2023), with our numbers beside the paper's."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from humboldt import published
from humboldt.core.results import Result, State
from humboldt.languages.chart import spell
from humboldt.measures.bliss import BIndex, b_index, sizes
from humboldt.measures.statistics import share
from humboldt.report.tables import Record, Table, TableCell, TableEntry
from humboldt.suites import catalogue
from humboldt.suites.cells import Cell, MeasureValues, SettingGroup

if TYPE_CHECKING:
    from humboldt.suites.bliss.suite import Bliss

EPSILONS = ("0.005", "0")  # as the published table names them
BESIDE = {  # other measures, and whether the largest or the smallest value is the best
    "largest_n": "max",
    "mdl": "min",
    "proved_mdl": "min",
    "excess_bits": "min",
    "ruled_out": "min",
    "reach_length": "max",
    "reach_depth": "max",
    "accepted_beyond": "max",
    "nested_beyond": "max",
}


@dataclass(frozen=True)
class Row:
    """One row of the table. With `shortest_only`, it shows for each training size only the network with the shortest
    description of all searches, whether or not it passes the test."""

    cell: Cell
    shortest_only: bool = False

    def finished(self, factor: int | None = None) -> list[Result]:
        """Returns the members with a score, of one factor or of all."""
        by_factor: dict[int, list[Result]] = {}
        for scores in self.cell.scores:
            at_factor = by_factor.setdefault(scores.training.setting["factor"], [])
            at_factor.extend(result for result in scores.results if result.state is State.FINISHED)
        if self.shortest_only:
            by_factor = {b: _shortest(results) for b, results in by_factor.items()}
        return [result for b, results in by_factor.items() if factor in (None, b) for result in results]

    @property
    def factors(self) -> list[int]:
        """The factors with at least one such member."""
        known = {scores.training.setting["factor"] for scores in self.cell.scores}
        return sorted(factor for factor in known if self.finished(factor))

    def train_size(self, factor: int) -> int:
        """Returns the number of training strings."""
        return sizes(factor, self.cell.scores[0].training.setting["order"]).train

    def index(self, kind: str, epsilon: str) -> BIndex:
        """Returns the B-index; a factor is met if any member meets the criterion."""
        return b_index({b: self.meeting(kind, epsilon, b)[0] > 0 for b in self.factors})

    def meeting(self, kind: str, epsilon: str, factor: int) -> tuple[int, int]:
        """Returns the numbers of members that meet the criterion and that have a verdict."""
        verdicts = [result.measures.get(f"{kind}_{epsilon}") for result in self.finished(factor)]
        read = [verdict for verdict in verdicts if verdict is not None]
        return sum(map(bool, read)), len(read)

    def decisive(self, kind: str, epsilon: str) -> int:
        """Returns the factor that decides the B-index: the largest that is met, or the smallest if none is."""
        met = [b for b in self.factors if self.meeting(kind, epsilon, b)[0]]
        return max(met, default=self.factors[0])

    def best(self, measure: str, factor: int, *, largest: bool = True) -> float | None:
        """Returns the best member's value, if any has one."""
        values = [r.measures[measure] for r in self.finished(factor) if measure in r.measures]
        return (max if largest else min)(values) if values else None

    def for_all_n(self, epsilon: str) -> str:
        """Returns whether a network is right about every string, as text: `∞` if one with the decisive |C| is proved,
        else the first string that the network with the largest n gets wrong, or `?`. Empty if no proof was tried."""
        asked = [r for r in self.finished(self.decisive("met", epsilon)) if epsilon in r.detail.get("proofs", {})]
        if not asked:
            return ""
        if any(result.detail["proofs"][epsilon]["verdict"] == "Proved" for result in asked):
            return "∞"
        furthest = max(asked, key=lambda result: result.measures.get("largest_n", 0)).detail["proofs"][epsilon]
        return abbreviated(furthest["string"]) if furthest["verdict"] == "Refuted" else "?"

    def printed(self, epsilon: str) -> str | None:
        """Returns the number in Table 2."""
        return published.lookup("bliss", "b_index", language=self.cell.task, model=self.cell.model, epsilon=epsilon)


def _shortest(results: Sequence[Result]) -> list[Result]:
    described = [result for result in results if "mdl" in result.measures]
    return [min(described, key=lambda result: result.measures["mdl"])] if described else []


def rows(cell: Cell) -> list[Row]:
    """Returns the row of a cell; for a model that is searched for, also the row of the shortest descriptions."""
    rows = [Row(cell)]
    if any("mdl" in result.measures for result in rows[0].finished()):
        rows.append(Row(cell, shortest_only=True))
    return [row for row in rows if row.factors]


def records(cell: Cell) -> list[Record]:
    """Returns records of the B-index at both margins and scopes, of counts of passing members, and of best values."""
    all_records: list[Record] = []
    for row in rows(cell):
        note = " shortest" if row.shortest_only else ""

        def add(
            setting: str, measure: str, statistic: str, value: Any, members: int, beside: Any = None, note: str = note
        ) -> None:
            text = f"{cell.heading} {setting}{note}"
            all_records.append(
                Record(
                    suite="bliss",
                    task=cell.task,
                    model=cell.model,
                    setting=text,
                    measure=measure,
                    statistic=statistic,
                    value=value,
                    members=members,
                    published=beside,
                )
            )

        members = len(row.finished())
        for epsilon in EPSILONS:
            index, per_string = (str(row.index(kind, epsilon)) for kind in ("met", "met_per_string"))
            add(f"epsilon={epsilon}", "b_index", "max", index, members, row.printed(epsilon))
            add(f"epsilon={epsilon} per_string", "b_index", "max", per_string, members)
        for factor in row.factors:
            size = f"train_size={row.train_size(factor)}"
            for epsilon in EPSILONS:
                met, read = row.meeting("met", epsilon, factor)
                if read and not row.shortest_only:
                    part = share(met, read)
                    add(f"{size} epsilon={epsilon}", "met", "count", met, read)
                    add(f"{size} epsilon={epsilon}", "met", "share_low", part.low, read)
                    add(f"{size} epsilon={epsilon}", "met", "share_high", part.high, read)
                proved, decided = row.meeting("proved", epsilon, factor)
                if decided:
                    add(f"{size} epsilon={epsilon}", "proved", "count", proved, decided)
            for measure, statistic in BESIDE.items():
                value = row.best(measure, factor, largest=statistic == "max")
                if value is not None:
                    add(size, measure, statistic, value, len(row.finished(factor)))
    return all_records


def measured(cell: Cell) -> list[MeasureValues]:
    """Returns the largest n of each member, for each training size."""
    return list(measured_by_size(cell).values())


def measured_by_size(cell: Cell) -> dict[int, MeasureValues]:
    """Returns the largest n of each member, by training size."""
    row, by_size = Row(cell), {}
    for factor in row.factors:
        values = tuple(r.measures["largest_n"] for r in row.finished(factor) if "largest_n" in r.measures)
        if values:
            size = row.train_size(factor)
            setting = f"{cell.heading} train_size={size}"
            by_size[size] = MeasureValues(measure="largest_n", setting=setting, values=values)
    return by_size


def layout(suite: "Bliss", heading: SettingGroup, cells: Sequence[Cell]) -> list[Table]:
    """Returns the one table of the paper."""
    proved = any(row.for_all_n(epsilon) for cell in cells for row in rows(cell) for epsilon in EPSILONS)
    columns = ["Language", "Model", "ε=0.005", "met by", "paper", "per string", "all n", "ε=0", "met by", "paper"]
    columns += ["all n", "largest n", "longer, deeper", "fails first at", "bits, proved", "|C|", "members"]
    if not proved:
        columns = [column for column in columns if column not in ("all n", "bits, proved")]
    lines: list[tuple[TableEntry, ...]] = []
    has_shortest = False
    for cell in cells:
        if not Row(cell).factors:  # no member has a score
            title, empty = catalogue.contender(suite, cell.model).title, [TableCell()] * (len(columns) - 4)
            lines.append((cell.task, title, cell.without_score(), *empty, TableCell(value=0)))
        for row in rows(cell):
            has_shortest |= row.shortest_only
            title = catalogue.contender(suite, cell.model).title + (" (shortest)" if row.shortest_only else "")
            lines.append((cell.task, title, *_verdicts(row, with_proofs=proved), *_reach(row, with_proofs=proved)))
    notes = (
        "B-index: the largest b for which some member, trained on 10^N / b strings, meets the criterion on the next "
        "10^N · b strings; <1 if none does. `met by`: how many members meet it at that b (at the smallest b if none "
        "does), of how many. The margin ε counts over all steps of the test set, or `per string`. Paper: Table 2.",
        "`largest n`: the best member accepts every string up to this size, from the shortest on, for each |C| "
        "(ε = 0; Dyck: string length, ε = 0.005). `fails first at`: the first test string that the best member with "
        "the largest |C| gets wrong. `longer, deeper`: for Dyck languages, up to which length (at most 100) every "
        "random string is accepted, and up to which k (at most 50) every (^k )^k; of the best members with the largest "
        "|C|, ε = 0.005.",
    )
    if has_shortest:
        notes = (*notes, "(shortest): the network with the shortest description of all searches, for each |C|.")
    if proved:
        notes = (
            *notes,
            "`all n`: ∞ if a network at that b is proved right about every string (M_det at ε = 0.005: per string), "
            "else the first string that the network that goes furthest gets wrong, or `?`; nothing where no proof is "
            "tried. `bits, proved`: for each |C| the shortest description found, and the shortest of a network that is "
            "proved at ε = 0. See docs/proofs.md.",
        )
    return [Table(f"bliss, {heading}", tuple(columns), tuple(lines), notes)] if lines else []


def _verdicts(row: Row, *, with_proofs: bool) -> list[TableEntry]:
    entries: list[TableEntry] = []
    for epsilon in EPSILONS:
        index, printed = row.index("met", epsilon), row.printed(epsilon)
        met, read = row.meeting("met", epsilon, row.decisive("met", epsilon))
        is_solved = not index.is_below
        entries.append(TableCell(value=str(index), cell=row.cell.key, published=printed, is_solved=is_solved))
        entries += [f"{met}/{read}", TableCell(value=printed or None)]
        if epsilon == EPSILONS[0]:
            entries.append(TableCell(value=str(row.index("met_per_string", epsilon))))
        if with_proofs:
            entries.append(row.for_all_n(epsilon))
    return entries


def _reach(row: Row, *, with_proofs: bool) -> list[TableEntry]:
    longer, deeper = (row.best(measure, row.factors[0]) for measure in ("reach_length", "reach_depth"))
    return [
        _listed([row.best("largest_n", factor) for factor in row.factors]),
        TableCell() if longer is None or deeper is None else f"{longer:.0f}, {deeper:.0f}",
        _first_failure(row),
        *([_lengths(row)] if with_proofs else []),
        _listed([row.train_size(factor) for factor in row.factors]),
        TableCell(value=len(row.finished())),
    ]


def _listed(numbers: Sequence[float | None]) -> TableEntry:
    """Returns a number for each training size: as a number if there is one size, as text if there are several."""
    several = [TableCell(value=number, form=".0f") for number in numbers]
    return several[0] if len(several) == 1 else ", ".join(number.text for number in several)


def _lengths(row: Row) -> str:
    """Returns the shortest description for each training size, and the shortest of a proved network."""

    def bits(measure: str, factor: int) -> str:
        value = row.best(measure, factor, largest=False)
        return "–" if value is None else f"{value:.1f}"

    asked = any("proofs" in result.detail for result in row.finished())
    return ", ".join(f"{bits('mdl', b)} ({bits('proved_mdl', b)})" for b in row.factors) if asked else ""


def _first_failure(row: Row) -> TableEntry:
    """Returns the first string that the member with the largest n gets wrong, abbreviated, at the strictest margin that
    a network can meet: 0 for M_det, 0.005 for M_cat."""
    best = max(row.finished(row.factors[0]), key=lambda result: result.measures.get("largest_n", 0))
    measures = {score["measure"] for score in best.detail.get("scores", ())}
    epsilon, measure = (0.0, "M_det") if "M_det" in measures else (0.005, "M_cat")
    for score in best.detail.get("scores", ()):
        if (score["measure"], score["epsilon"]) == (measure, epsilon):
            return abbreviated(score["first_failure"])
    return TableCell()


def abbreviated(string: str | Sequence[str] | None, most: int = 20) -> str:
    """Returns a short form of a string.

    >>> abbreviated("aaabbb"), abbreviated("(())()" * 10), abbreviated(None)
    ('a^3 b^3', '(())()(())()(())()((…', 'none')
    >>> abbreviated("(" * 100 + ")" * 100), abbreviated("")
    ('(^100 )^100', 'empty')
    """
    if not string:
        return "none" if string is None else "empty"
    if not isinstance(string, str):  # symbols of several characters
        text = spell(string, most)
        return text if len(text) <= 4 * most else text[: 4 * most] + "…"
    runs = [f"{letter}^{len(list(run))}" for letter, run in itertools.groupby(string)]
    if string.isalpha() or (len(string) > most and len(runs) == 2):
        return " ".join(runs)
    return string if len(string) <= most else string[:most] + "…"
