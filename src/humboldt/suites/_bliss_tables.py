"""Table 2 of Lan et al. (2023), ours beside theirs."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from humboldt import published
from humboldt.measures.bliss import b_index, sizes
from humboldt.store import Result, Run, State
from humboldt.suites._base import Record, Table

EPSILONS = ("0.005", "0")  # as the published table names them
TITLES = {"lstm": "LSTM", "stack_lstm": "Stack-LSTM", "baby_ntm": "Baby-NTM", "mdlrnn": "MDLRNN"}


@dataclass(frozen=True)
class Row:
    """All runs that together give one row of the table: the same label, language and model."""

    task: str
    model: str
    label: str
    runs: tuple[tuple[Run, list[Result]], ...]

    def finished(self, factor: int | None = None) -> list[Result]:
        """The members with a score, of one factor or of all."""
        return [
            result
            for run, results in self.runs
            for result in results
            if result.state is State.FINISHED and factor in (None, run.setting["factor"])
        ]

    @property
    def factors(self) -> list[int]:
        """The factors with at least one such member."""
        return sorted({run.setting["factor"] for run, _ in self.runs if self.finished(run.setting["factor"])})

    def train_size(self, factor: int) -> int:
        """How many strings were trained on."""
        return sizes(factor, self.runs[0][0].setting["order"]).train

    def index(self, kind: str, epsilon: str) -> str:
        """The B-index, a factor being met if any member meets the criterion."""
        met = {b: any(r.measures.get(f"{kind}_{epsilon}") for r in self.finished(b)) for b in self.factors}
        return str(b_index(met))

    def best(self, measure: str, factor: int, *, largest: bool = True) -> float | None:
        """The best member's value, if any has one."""
        values = [r.measures[measure] for r in self.finished(factor) if measure in r.measures]
        return (max if largest else min)(values) if values else None


def rows(runs: Sequence[tuple[Run, list[Result]]]) -> list[Row]:
    """The runs, grouped by the row they belong to."""
    groups: dict[tuple[str, str, str], list[tuple[Run, list[Result]]]] = {}
    for run, results in runs:
        groups.setdefault((run.label, run.task, run.model), []).append((run, results))
    found = [Row(task, model, label, tuple(group)) for (label, task, model), group in groups.items()]
    return [row for row in found if row.factors]


def printed_value(row: Row, epsilon: str) -> str | None:
    """What Table 2 has there."""
    return published.lookup("bliss", "b_index", language=row.task, model=row.model, epsilon=epsilon)


def records(runs: Sequence[tuple[Run, list[Result]]]) -> list[Record]:
    """The B-index at both margins and in both scopes, and for each training size what the best member reached."""
    found = []
    for row in rows(runs):

        def add(
            setting: str, measure: str, statistic: str, value: Any, members: int, beside: Any = None, row: Row = row
        ) -> None:
            text = f"{row.label} {setting}"
            found.append(Record("bliss", row.task, row.model, text, measure, statistic, value, members, beside))

        members = len(row.finished())
        for epsilon in EPSILONS:
            beside = printed_value(row, epsilon)
            add(f"epsilon={epsilon}", "b_index", "max", row.index("met", epsilon), members, beside)
            per_string = row.index("met_per_string", epsilon)
            add(f"epsilon={epsilon} per_string", "b_index", "max", per_string, members)
        for factor in row.factors:
            size = f"train_size={row.train_size(factor)}"
            for measure, statistic in (("largest_n", "max"), ("excess_bits", "min"), ("ruled_out", "min")):
                value = row.best(measure, factor, largest=statistic == "max")
                if value is not None:
                    add(size, measure, statistic, value, len(row.finished(factor)))
    return found


def tables(runs: Sequence[tuple[Run, list[Result]]], notes: Mapping[str, Sequence[str]]) -> list[Table]:
    """One table for each label. `notes` are lines about it."""
    grouped = rows(runs)
    return [
        _table([row for row in grouped if row.label == label], label, notes.get(label, ()))
        for label in dict.fromkeys(row.label for row in grouped)
    ]


def _table(found: Sequence[Row], label: str, notes: Sequence[str]) -> Table:
    columns = (
        *("Language", "Model", "ε=0.005", "paper", "per string", "ε=0", "paper"),
        *("largest n", "fails first at", "|C|", "members"),
    )
    lines = []
    for row in found:
        indices = [row.index("met", epsilon) for epsilon in EPSILONS]
        printed = [printed_value(row, epsilon) or "–" for epsilon in EPSILONS]
        reached = [row.best("largest_n", factor) for factor in row.factors]
        lines.append(
            (
                *(row.task, TITLES[row.model]),
                *(indices[0], printed[0], row.index("met_per_string", "0.005"), indices[1], printed[1]),
                ", ".join("–" if n is None else f"{n:.0f}" for n in reached),
                _first_failure(row),
                ", ".join(f"{row.train_size(factor)}" for factor in row.factors),
                str(len(row.finished())),
            )
        )
    remarks = (
        "B-index: the largest b for which some member, trained on 10^N / b strings, meets the criterion on the next "
        "10^N · b strings; <1 if none does. The margin ε counts over all steps of the test set, or `per string`. "
        "Paper: Table 2.",
        "`largest n`: up to which size the best member accepts every string, from the shortest on, for each |C| "
        "(ε = 0; Dyck: string length, ε = 0.005). `fails first at`: the first test string that the best member with "
        "the largest |C| gets wrong.",
    )
    return Table(f"bliss, {label}", columns, tuple(lines), (*remarks, *notes))


def _first_failure(row: Row) -> str:
    """Of the member that goes furthest, in short; the most telling margin is the strictest that is not hopeless."""
    best = max(row.finished(row.factors[0]), key=lambda result: result.measures.get("largest_n", 0))
    measures = {score["measure"] for score in best.detail["scores"]}
    epsilon, measure = (0.0, "M_det") if "M_det" in measures else (0.005, "M_cat")
    for score in best.detail["scores"]:
        if (score["measure"], score["epsilon"]) == (measure, epsilon):
            return abbreviated(score["first_failure"])
    return "–"


def abbreviated(string: str | None, most: int = 20) -> str:
    """A string in short.

    >>> abbreviated("aaabbb"), abbreviated("(())()" * 10), abbreviated(None)
    ('a^3 b^3', '(())()(())()(())()((…', 'none')
    """
    if string is None:
        return "none"
    if not string.isalpha():
        return string if len(string) <= most else string[:most] + "…"
    return " ".join(f"{letter}^{len(list(run))}" for letter, run in itertools.groupby(string))
