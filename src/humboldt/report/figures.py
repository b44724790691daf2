"""Figures as data: what a suite says about a figure. Drawing them is the page's business (`humboldt.page`)."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

MOST_ROWS = 5_000  # of a figure: more of them nobody can tell apart
MODEL, FAMILY = "model", "family"  # the columns by which figures of a page are linked

Row = Mapping[str, Any]


class Kind(enum.Enum):
    """How rows are drawn."""

    LINES = "lines"  # a line for each model, with a band from `low` to `high` where rows have them
    POINTS = "points"  # a point for each member beside the others of its category; a bar where rows have `published`
    BARS = "bars"  # a bar for each model beside the others of its category, with a whisker from `low` to `high`
    PATH = "path"  # points in a plane, in the order of `step`
    HEAT = "heat"  # a square for each row


@dataclass(frozen=True)
class Axis:
    """A column of the rows along an axis. `order` is that of its categories, where it has some."""

    column: str
    title: str
    kind: Literal["number", "category"] = "number"
    is_log: bool = False
    domain: tuple[float, float] | None = None
    order: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Figure:
    """One figure.

    - `name`: for `humboldt plot`, after the name of its suite: `chomsky/lengths`.
    - `about`: what it shows, and which figure of the paper that is.
    - `rows`: plain values. `model` and `family` are the columns by which figures are linked.
    - `colour`: the column that is told by colour; its values in the `order` given, others as they come. `panel`: the
      column with a panel for each of its values.
    - `shaded`: a range of x, with what it is called: the lengths of training, say.
    - `rules`: heights with what they are called: chance, say. `left_out`: what is not shown, in words.
    """

    name: str
    title: str
    about: str
    kind: Kind
    rows: tuple[Row, ...]
    x: Axis
    y: Axis
    colour: str = MODEL
    colour_title: str = "Model"
    order: tuple[str, ...] = ()
    panel: str | None = None
    shaded: tuple[float, float, str] | None = None
    rules: tuple[tuple[float, str], ...] = ()
    left_out: str = ""

    @property
    def colours(self) -> list[Any]:
        """The values that are told by colour, in order."""
        found = dict.fromkeys(row[self.colour] for row in self.rows if self.colour in row)
        return [*(name for name in self.order if name in found), *(name for name in found if name not in self.order)]


@dataclass(frozen=True)
class Drawing:
    """A figure that is drawn from a description of its own: a network, as `humboldt.mdl` writes it."""

    name: str
    title: str
    about: str
    network: Mapping[str, Any]
    left_out: str = ""


AnyFigure = Figure | Drawing
