"""The content of a page as plain data, in the order of the page."""

from dataclasses import dataclass, field
from typing import Any

from humboldt.report.figures import AnyFigure
from humboldt.suites.cells import OverviewEntry


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A place in a table of the page.

    - `is_words`: whether it is text and not a number; a column with such an entry is aligned to the left.
    - `key`: key of its provenance. `command`: the command that fills the place, if it is empty.
    - `gap`: the difference from the paper as text; `level`: its size, from 0, with the sign of the difference.
    """

    text: str
    is_words: bool = False
    key: str = ""
    gap: str = ""
    level: int = 0
    is_solved: bool = False
    is_printed: bool = False  # a published number
    has_counterpart: bool = False
    command: str = ""


@dataclass(frozen=True)
class Grid:
    """A table of the page."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]
    notes: tuple[str, ...]

    @property
    def texts(self) -> tuple[bool, ...]:
        """Whether each column holds words, and not only numbers."""
        columns = zip(*self.rows, strict=True) if self.rows else ([] for _ in self.columns)
        return tuple(any(entry.is_words for entry in column) for column in columns)


@dataclass(frozen=True)
class Gap:
    """Cells without results that one command fills."""

    model: str
    tasks: tuple[str, ...]
    command: str
    estimate: str


@dataclass(frozen=True, kw_only=True)
class Part:
    """The results of a suite under one heading. `kind` is the kind of preset: paper, paper with changes, or another.
    `curves`: figures of training."""

    heading: str
    kind: str
    badge: str
    tables: tuple[Grid, ...]
    spreads: Grid | None
    figures: tuple[AnyFigure, ...]
    curves: tuple[AnyFigure, ...]
    gaps: tuple[Gap, ...]


@dataclass(frozen=True, kw_only=True)
class Section:
    """The results of one suite."""

    name: str
    paper: str
    question: str
    measure: str
    parts: tuple[Part, ...]
    across: tuple[AnyFigure, ...]
    apart: tuple[Grid, ...]
    first_command: str  # shown if there are no results


@dataclass(frozen=True, kw_only=True)
class Seen:
    """A network in the overview: the results of one family in one suite."""

    network: str
    badge: str
    kind: str
    glance: OverviewEntry
    more: str


@dataclass(frozen=True, kw_only=True)
class Answers:
    """The answers of models to all suites under one preset of the bench."""

    preset: str
    figure: AnyFigure
    tables: tuple[Grid, ...]
    by_task: tuple[Grid, ...]


@dataclass(kw_only=True)
class Page:
    """Everything that a page shows."""

    title: str
    version: str
    folder: str
    columns: tuple[str, ...]
    overview: tuple[tuple[str, tuple[tuple[Seen, ...], ...]], ...]
    sections: tuple[Section, ...]
    answers: tuple[Answers, ...] = ()
    provenance: dict[str, dict[str, Any]] = field(default_factory=dict)
    summary: str = ""
