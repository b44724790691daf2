"""Figures as data, made by suites and drawn by `humboldt.page`."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

MOST_ROWS = 5_000  # of a figure: more cannot be distinguished
MODEL, FAMILY = "model", "family"  # columns that link the figures of a page

Row = Mapping[str, Any]


class Kind(enum.Enum):
    """The way in which rows are drawn."""

    LINES = "lines"  # a line for each model, with a band from `low` to `high` where rows have them
    POINTS = "points"  # a point for each member beside the others of its category; a bar where rows have `published`
    BARS = "bars"  # a bar for each model beside the others of its category, with a whisker from `low` to `high`
    PATH = "path"  # points in a plane, in the order of `step`
    HEAT = "heat"  # a square for each row
    PROFILE = "profile"  # a line for each model in every panel: a mark for the mean, small ones for parts, or a word


@dataclass(frozen=True)
class Axis:
    """A column of the rows along an axis. `order` is the order of its categories, if it has categories."""

    column: str
    title: str
    kind: Literal["number", "category"] = "number"
    is_log: bool = False
    domain: tuple[float, float] | None = None
    order: tuple[Any, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One figure.

    - `name`: for `humboldt plot`, after the name of its suite: `chomsky/lengths`.
    - `about`: caption, with the corresponding figure of the paper.
    - `rows`: plain values. The columns `model` and `family` link figures.
    - `colour`: the column shown by colour; values in the given `order`, others in the order of the rows. `panel`: the
      column with a panel for each of its values.
    - `shaded`: a range of x with its label, for example the lengths of training.
    - `rules`: horizontal lines with their labels, for example chance. `left_out`: a remark on omitted data.
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
        """The values of the column shown by colour, in order."""
        names = dict.fromkeys(row[self.colour] for row in self.rows if self.colour in row)
        return [*(name for name in self.order if name in names), *(name for name in names if name not in self.order)]


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A drawing of a network, from the description that `humboldt.mdl` writes."""

    name: str
    title: str
    about: str
    network: Mapping[str, Any]
    left_out: str = ""


AnyFigure = Figure | Drawing
