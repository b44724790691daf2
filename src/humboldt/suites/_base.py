"""What a suite is to the rest of the package."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

from humboldt.errors import Interrupted, UsageError, unknown_name
from humboldt.store import Result, Run


@dataclass(frozen=True)
class Preset:
    """A named choice of settings, as changes to the paper's. `about` says what it is for.

    `of` has what is changed beyond that for some tasks or models, by their names.
    """

    name: str
    about: str
    changes: Mapping[str, str]
    of: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def changes_for(self, name: str) -> dict[str, str]:
        """All changes for a task or model."""
        return {**self.changes, **self.of.get(name, {})}


@dataclass(frozen=True)
class Request:
    """What the user asked for. Empty `tasks` or `models` mean: those of the preset."""

    tasks: Sequence[str] = ()
    models: Sequence[str] = ()
    preset: str = "quick"
    seeds: int | None = None
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """One cell of a table, or one of several settings that compete for it: members that train together."""

    run: Run
    members: tuple[Mapping[str, Any], ...]
    work: str  # what one member takes, in words: "2,000 steps of 128 strings"
    departures: tuple[str, ...]  # every way in which it is not the paper's, in words

    @property
    def name(self) -> str:
        """Task and model, as progress shows them."""
        return f"{self.run.task} · {self.run.model}"


@dataclass(frozen=True)
class Record:
    """One number with its company: the flat form of `--json`."""

    suite: str
    task: str
    model: str
    setting: str
    measure: str
    statistic: str
    value: float | str
    members: int
    published: float | str | None


@dataclass(frozen=True)
class Table:
    """A table as the paper lays it out, with rows of text."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


class Conformance(Protocol):
    """What a check of somebody else's examples found. `str()` says it to people."""

    @property
    def agrees(self) -> bool:
        """Whether all examples agree."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """The same for programs."""
        ...


@dataclass(frozen=True)
class Watcher:
    """What an experiment tells the outside while it runs, and what it asks."""

    progress: Callable[[str, int, int, str], None] = lambda phase, done, total, remark: None
    warn: Callable[[str], None] = lambda message: None
    should_stop: Callable[[], bool] = lambda: False
    save_seconds: float = 30.0  # between checkpoints

    def scored(self, done: int, total: int) -> None:
        """Tells how far the evaluation is; raises `Interrupted` if that is enough."""
        self.progress("evaluation", done, total, "")
        if self.should_stop():
            raise Interrupted("Stopped as asked.")


class AbstractSuite(ABC):
    """A paper's protocol. The first five are shown by `humboldt list`."""

    name: ClassVar[str]
    paper: ClassVar[str]
    question: ClassVar[str]
    measure: ClassVar[str]
    presets: ClassVar[Mapping[str, Preset]]
    demo: ClassVar[Request] = Request()  # what `humboldt demo` shows of it: the quick preset, or a part of it

    @abstractmethod
    def tasks(self) -> list[str]:
        """Task names, in the order of the paper's table."""

    @abstractmethod
    def models(self) -> list[str]:
        """Model names, in the order of the paper's table."""

    @abstractmethod
    def plan(self, request: Request) -> list[Experiment]:
        """The experiments that a request means. Raises `UsageError` on any name or value that is wrong."""

    @abstractmethod
    def estimate(self, experiments: Sequence[Experiment]) -> list[float]:
        """Seconds that each will take, from a short measurement on this machine."""

    @abstractmethod
    def execute(self, experiment: Experiment, checkpoints: Path, watcher: Watcher) -> list[Result]:
        """Trains and scores all members, going on from what is in the folder `checkpoints`."""

    @abstractmethod
    def records(self, runs: Sequence[tuple[Run, list[Result]]]) -> list[Record]:
        """The results as flat records, beside the published numbers."""

    @abstractmethod
    def tables(self, runs: Sequence[tuple[Run, list[Result]]]) -> list[Table]:
        """The results in the paper's layout."""

    @abstractmethod
    def data(
        self, task: str, *, split: str | None, count: int, length: int | None, seed: int, settings: Mapping[str, str]
    ) -> Iterator[tuple[list[str], list[str]]]:
        """Pairs of input and target symbols."""

    def check(self, task: str, lines: Sequence[str]) -> Conformance:
        """Whether somebody else's examples of a task agree with our definition."""
        del task, lines
        raise UsageError(f"The suite {self.name} has no conformance check yet. `chomsky` has one.")

    def preset(self, name: str) -> Preset:
        """A preset by name."""
        if name not in self.presets:
            raise unknown_name("preset", name, self.presets)
        return self.presets[name]


def chosen(kind: str, names: Sequence[str], known: Sequence[str]) -> list[str]:
    """`names` in the order of `known` and without repetition, or all of them if there are none; unknown names raise."""
    for name in names:
        if name not in known:
            raise unknown_name(kind, name, known)
    return [name for name in known if name in names or not names]


def at_least_one(seeds: int) -> int:
    """A number of seeds that makes sense."""
    if seeds < 1:
        raise UsageError(f"--seeds {seeds}: an experiment needs at least one seed. Use --seeds 1 or more.")
    return seeds
