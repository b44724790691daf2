"""What only some suites can do."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

from humboldt.errors import UsageError, unknown_name


@dataclass(frozen=True)
class ExampleRequest:
    """Which examples somebody wants. `None` is for the suite to choose; `settings` are text, or values.

    A `count` of `None` means the whole split. `preset` says which settings they are changes of.
    """

    task: str
    split: str | None
    count: int | None
    length: int | None
    seed: int
    settings: Mapping[str, Any]
    preset: str = "paper"


class OffersData(ABC):
    """A suite that prints examples of its tasks: `humboldt data`."""

    data_options: ClassVar[tuple[str, ...]] = ()  # of the command line, that not every suite has

    @abstractmethod
    def tasks(self) -> list[str]:
        """Task names; every suite has them."""

    def tasks_with_examples(self) -> list[str]:
        """What examples can be asked of: all tasks, and what else a suite says."""
        return self.tasks()

    @abstractmethod
    def examples(self, request: ExampleRequest) -> Iterator[tuple[list[str], list[str]]]:
        """Pairs of input and target symbols. The task is one of the suite's."""

    def data(
        self,
        task: str,
        *,
        split: str | None,
        count: int | None,
        length: int | None,
        seed: int,
        settings: Mapping[str, Any],
        preset: str = "paper",
    ) -> Iterator[tuple[list[str], list[str]]]:
        """Pairs of input and target symbols; all of a split if `count` is `None`."""
        if task not in self.tasks_with_examples():
            raise unknown_name("task", task, self.tasks_with_examples())
        return self.examples(ExampleRequest(task, split, count, length, seed, settings, preset))


class Conformance(Protocol):
    """What a check of somebody else's examples found. `str()` says it to people."""

    @property
    def agrees(self) -> bool:
        """Whether all examples agree."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """The same for programs."""
        ...


class OffersCheck(ABC):
    """A suite that compares somebody else's examples with its definition: `humboldt check`."""

    @abstractmethod
    def check(self, task: str, lines: Sequence[str]) -> Conformance:
        """Whether the examples of a task, as JSON lines, agree with our definition."""


@dataclass(frozen=True)
class FileRequest:
    """Files of predictions that somebody wants scored. `twin` is a second file, for tests that compare two."""

    task: str
    paths: Sequence[Path]
    twin: Path | None
    settings: Mapping[str, Any]
    preset: str

    def only(self) -> Path:
        """The file, where there must be one."""
        if len(self.paths) > 1:
            raise UsageError(f"{len(self.paths)} files were given, but this is scored from one. Score one at a time.")
        return self.paths[0]


class OffersScore(ABC):
    """A suite that reads files of predictions in a way of its own: `humboldt score`. Files for other suites have a
    prediction for every test string, in their order."""

    @abstractmethod
    def score_file(self, request: FileRequest) -> dict[str, Any]:
        """The score of files of predictions, as plain data."""


@dataclass(frozen=True)
class WrongString:
    """The shortest of many strings that a member gets wrong. `answer` and `expected` are empty where whoever asks can
    find them out; `input` is empty where all were right. `tried` says in words what the member was asked."""

    input: tuple[str, ...] | None
    tried: str
    answer: tuple[str, ...] | None = None
    expected: tuple[str, ...] | None = None


class OffersWrongStrings(ABC):
    """A suite that can say on which short string a trained member fails first."""

    @abstractmethod
    def first_wrong(self, parts: Any, predictor: Any, detail: Mapping[str, Any]) -> WrongString | None:
        """The shortest string that a predictor of one member gets wrong, of those that are tried. `detail` is what was
        stored with the member's scores. `None` where that cannot be said."""
