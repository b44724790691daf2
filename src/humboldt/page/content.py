"""What a page shows, as plain data in the order of the page."""

from dataclasses import dataclass, field
from typing import Any

from humboldt.report.figures import AnyFigure
from humboldt.suites.cells import Glance


@dataclass(frozen=True)
class Entry:
    """A place in a table of the page.

    - `key`: of what is known about it. `command`: what would fill it, where it is empty.
    - `gap`: the difference to the paper in words; `level`: how large it is, from 0, with the sign of the difference.
    """

    text: str
    key: str = ""
    gap: str = ""
    level: int = 0
    is_solved: bool = False
    is_printed: bool = False  # the paper's own number
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
        """Which columns hold words, not numbers."""
        columns = zip(*self.rows, strict=True) if self.rows else ([] for _ in self.columns)
        return tuple(
            any(entry.text[:1].isalpha() and not entry.key and not entry.command for entry in column)
            for column in columns
        )


@dataclass(frozen=True)
class Gap:
    """Places without results that one command fills."""

    model: str
    tasks: tuple[str, ...]
    command: str
    estimate: str


@dataclass(frozen=True)
class Part:
    """What a suite has under one heading. `kind` tells presets apart: paper, paper with changes, or another."""

    heading: str
    kind: str
    badge: str
    tables: tuple[Grid, ...]
    spreads: Grid | None
    figures: tuple[AnyFigure, ...]
    gaps: tuple[Gap, ...]


@dataclass(frozen=True)
class Section:
    """One suite."""

    name: str
    paper: str
    question: str
    measure: str
    parts: tuple[Part, ...]
    across: tuple[AnyFigure, ...]
    apart: tuple[Grid, ...]
    first_command: str  # where there are no results


@dataclass(frozen=True)
class Seen:
    """A network in the overview: what a family has in one suite."""

    network: str
    badge: str
    kind: str
    glance: Glance
    more: str


@dataclass
class Page:
    """Everything that a page shows."""

    title: str
    version: str
    folder: str
    columns: tuple[str, ...]
    overview: tuple[tuple[str, tuple[tuple[Seen, ...], ...]], ...]
    sections: tuple[Section, ...]
    provenance: dict[str, dict[str, Any]] = field(default_factory=dict)
    summary: str = ""
