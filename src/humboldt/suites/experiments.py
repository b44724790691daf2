"""What a suite speaks of, as plain data: who contends, what is asked for, what is run, scored and read."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from humboldt import settings
from humboldt.events import AbstractSink
from humboldt.identity import Evaluation, Member, Training, canonical, short_hash
from humboldt.suites.departures import Departure
from humboldt.training.base import AbstractPredictor

Scored = tuple[dict[str, float], dict[str, Any]]
"""One member's measures, and details of them."""


@dataclass(frozen=True)
class Contender:
    """A registered model as a suite uses it.

    - `model`: its name among its engine's models. `title`: as the paper's tables call it.
    - `changes`: the settings that the paper gives it, of the protocol or of the model.
    - `sweep`: what the paper tries several values of, beside what its members differ in.
    - `follows`: changes that follow from the value of another setting: `{("sizes", "counted"): {"num_layers": 4}}`.
    - `departures`: what always differs from the paper, whatever the settings are.
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

    - `about`: what it is for.
    - `changes`: to the paper's settings, for all; `of_tasks`, `of_models`, `of_cells`: for one task, one model, or one
      of both, which come after.
    - `cells`: the pairs of task and model that it runs unless the user asks for others. `tasks`: the tasks, where the
      user names models only.
    - `sweeps`: what is swept in place of the paper's values (`None`: the paper's values).
    """

    name: str
    about: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    of_tasks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    of_models: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    of_cells: Mapping[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    cells: tuple[tuple[str, str], ...] | None = None
    tasks: tuple[str, ...] | None = None
    sweeps: Mapping[str, tuple[Any, ...]] | None = None

    def changes_for(self, task: str, model: str) -> dict[str, Any]:
        """All changes for a cell."""
        parts = self.of_tasks.get(task, {}), self.of_models.get(model, {}), self.of_cells.get((task, model), {})
        return {key: value for part in (self.changes, *parts) for key, value in part.items()}


@dataclass(frozen=True)
class Request:
    """What the user asked for. Empty `tasks` or `models` mean: those of the preset. `of_models` are settings of one
    model each."""

    tasks: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    preset: str = "quick"
    seeds: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    of_models: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """One training and the evaluations asked of it, as plain data. `kept` says that its members are trained already,
    so that they are only scored."""

    training: Training
    members: tuple[Member, ...]
    evaluations: tuple[Evaluation, ...]
    work: str  # what one member takes, in words: "2,000 steps of 128 strings"
    distinct: Mapping[str, Any] = field(default_factory=dict)  # settings that tell it from others of its cell
    kept: bool = False

    @cached_property
    def id(self) -> str:
        """The same for the same training and members, in any command on any machine."""
        return short_hash([self.training.key, sorted(canonical(member) for member in self.members)], 12)

    @property
    def name(self) -> str:
        """Task, model and what tells it from its neighbours, as progress shows them."""
        words = ", ".join(f"{key}={settings.words(value)}" for key, value in self.distinct.items())
        return " · ".join(filter(None, [self.training.task, self.training.model, words]))


@dataclass(frozen=True)
class Parts:
    """What a training is made of, as objects."""

    training: Training
    contender: Contender
    task: Any
    model: Any
    protocol: Any


@dataclass(frozen=True)
class Scoring:
    """Trained members to be scored: `predictor` speaks for `members`, in their order; `sink` is told how far it is."""

    parts: Parts
    evaluation: Evaluation
    predictor: AbstractPredictor
    members: tuple[Member, ...]
    sink: AbstractSink

    def take(self, chosen: Sequence[int]) -> "Scoring":
        """The same for some of the members."""
        members = tuple(self.members[i] for i in chosen)
        return dataclasses.replace(self, predictor=self.predictor.take(chosen), members=members)


@dataclass(frozen=True)
class Reading:
    """One number about a model, with its company.

    - `n`: how many strings (or members, for a share of members) it rests on. `low`, `high`: a 95% interval.
    - `chance`: what a guess gets. `breakdown`: for each property of strings, the value at each of its values.
    - `note`: what else must be known to read it.
    """

    measure: str
    value: float
    n: int | None = None
    low: float | None = None
    high: float | None = None
    chance: float | None = None
    breakdown: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True)
class Probe:
    """A small part of an evaluation, for an estimate: what to run, and how many times that is the whole.

    `units` is how large the part is: where it is known, networks of one kind are asked on one task for all of them.
    `small` is a smaller part, for networks that would take long for this one.
    """

    run: Callable[[AbstractPredictor], object]
    times: float
    units: float | None = None
    small: "Probe | None" = None
