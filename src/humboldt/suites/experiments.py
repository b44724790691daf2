"""Plain-data types that all suites share: contenders, presets, requests, experiments, readings."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

from humboldt import settings
from humboldt.core.events import AbstractSink
from humboldt.core.identity import Evaluation, Member, Training, canonical, short_hash
from humboldt.training.base import AbstractPredictor, AbstractProblem


class MemberScore(NamedTuple):
    """The measures of one member under one evaluation, and details of them (curves, breakdowns)."""

    measures: Mapping[str, float] = MappingProxyType({})
    detail: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Departure:
    """One difference from the paper. `task` and `model` name its cell.

    `ours` and `papers` are values of the setting `name`; with `is_part`, `ours` are those of the paper's values that
    were tried. A difference that no setting expresses has a `text` instead.
    """

    name: str
    ours: Any = None
    papers: Any = None
    task: str = ""
    model: str = ""
    is_part: bool = False
    text: str = ""

    def __str__(self) -> str:
        """Returns the difference without its cell.

        >>> print(Departure("steps", 2000, 1_000_000))
        steps 2,000 (paper: 1,000,000)
        >>> print(Departure("hidden_size", (32,), (2, 32, 128), is_part=True))
        only hidden_size 32 (paper: 2, 32, 128)
        """
        if self.text:
            return self.text
        only = "only " if self.is_part else ""
        return f"{only}{self.name} {_several(self.ours)} (paper: {_several(self.papers)})"


def _several(value: Any) -> str:
    if isinstance(value, tuple):  # several values that were tried: a range if they are consecutive
        whole = all(isinstance(part, int) and not isinstance(part, bool) for part in value)
        if whole and len(value) > 2 and list(value) == list(range(value[0], value[-1] + 1)):
            return f"{value[0]}..{value[-1]}"
        return ", ".join(map(settings.words, value))
    return settings.words(value)


@dataclass(frozen=True)
class Variation:
    """Settings that the paper varies in a separate table, and the number of seeds of that table. `members`: the values
    of settings in which members differ, where the table has others, such as learning rates."""

    settings: Mapping[str, Any]
    seeds: int
    members: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Contender:
    """A registered model as a suite uses it.

    - `model`: its name among its engine's models. `title`: as the paper's tables call it.
    - `changes`: the settings that the paper gives it, of the protocol or of the model.
    - `sweep`: settings of which the paper tries several values, beside those in which members differ.
    - `follows`: changes that follow from the value of another setting: `{("sizes", "counted"): {"num_layers": 4}}`.
    - `departures`: differences from the paper that do not depend on settings.
    """

    model: str
    title: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    sweep: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    follows: Mapping[tuple[str, Any], Mapping[str, Any]] = field(default_factory=dict)
    engine: str = "jax"
    departures: tuple[Departure, ...] = ()


@dataclass(frozen=True)
class Preset:
    """A named choice of settings, as data.

    - `about`: its purpose.
    - `changes`: to the paper's settings, for all cells; `of_tasks`, `of_models`, `of_cells`: for one task, one model or
      one cell, applied afterwards in this order.
    - `cells`: the pairs of task and model to run unless the user names others. `tasks`: the tasks, if the user names
      only models. `models`: the models, if the user names only tasks.
    - `sweeps`: the values to sweep in place of the paper's (`None`: the paper's values).
    - `varied`: settings of which the preset trains several values, beside what is swept, as a table of the paper does.
    - `source`: the paper and its appendix, if it is not the suite's paper. `departures`: known differences from it,
      whatever the settings.
    """

    name: str
    about: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    of_tasks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    of_models: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    of_cells: Mapping[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    cells: tuple[tuple[str, str], ...] | None = None
    tasks: tuple[str, ...] | None = None
    models: tuple[str, ...] | None = None
    sweeps: Mapping[str, tuple[Any, ...]] | None = None
    varied: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    source: str = ""
    departures: tuple[str, ...] = ()

    def changes_for(self, task: str, model: str) -> dict[str, Any]:
        """Returns all changes for a cell, by name of the setting."""
        parts = self.of_tasks.get(task, {}), self.of_models.get(model, {}), self.of_cells.get((task, model), {})
        return {key: value for part in (self.changes, *parts) for key, value in part.items()}


@dataclass(frozen=True)
class Request:
    """A user's request. Empty `tasks` or `models` mean those of the preset. `of_models` has the settings of single
    models."""

    tasks: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    preset: str = "quick"
    seeds: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    of_models: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Resolved:
    """A training, resolved to objects. If a plan made it, `protocol` has all requested values; if it was made from
    stored settings, `protocol` has defaults for values that are not stored."""

    training: Training
    contender: Contender
    task: Any
    model: Any
    protocol: Any


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One training and its requested evaluations, as plain data.

    - `work`: the work of one member in words. `distinct`: settings in which it differs from others of its cell.
    - `score_only`: its members are trained already.
    - `resolved`: its objects. They are not pickled; another process makes them from the settings.
    """

    training: Training
    members: tuple[Member, ...]
    evaluations: tuple[Evaluation, ...]
    work: str
    distinct: Mapping[str, Any] = field(default_factory=dict)
    score_only: bool = False
    resolved: Resolved | None = field(default=None, compare=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "resolved": None}

    @cached_property
    def id(self) -> str:
        """Hash of training and members; the same in every command and on every machine."""
        return short_hash([self.training.key, sorted(canonical(member) for member in self.members)], 12)

    @property
    def name(self) -> str:
        """Task, model and the settings in which it differs from its neighbours, as progress shows them."""
        words = ", ".join(f"{key}={settings.words(value)}" for key, value in self.distinct.items())
        return " · ".join(filter(None, [self.training.task, self.training.model, words]))


@dataclass(frozen=True, kw_only=True)
class ScoringInput:
    """Trained members to be scored: `predictor` has one entry per member, in order; progress goes to `sink`.

    `problem` is the one that the members were trained on.
    """

    resolved: Resolved
    evaluation: Evaluation
    problem: AbstractProblem
    predictor: AbstractPredictor
    members: tuple[Member, ...]
    sink: AbstractSink

    def take(self, places: Sequence[int]) -> "ScoringInput":
        """Returns the input for the members at these indices."""
        members = tuple(self.members[i] for i in places)
        return dataclasses.replace(self, predictor=self.predictor.take(places), members=members)


@dataclass(frozen=True, kw_only=True)
class ReportedNumber:
    """A reported number with sample size, interval and chance level.

    - `n`: number of strings (or of members, for a share of members). `low`, `high`: a 95% interval.
    - `chance`: value of a guess. `floor`: value of the best answers from length and position alone, where measured.
    - `breakdown`: for each property of strings, the number at each of its values.
    - `note`: remark that is needed to interpret the number.
    """

    measure: str
    value: float
    n: int | None = None
    low: float | None = None
    high: float | None = None
    chance: float | None = None
    floor: float | None = None
    breakdown: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True)
class Probe:
    """A small part of an evaluation, for an estimate: a function to run, and the factor to the whole."""

    run: Callable[[AbstractPredictor], object]
    times: float
