"""What only some suites can do."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from humboldt.errors import unknown_name


@dataclass(frozen=True)
class ExampleRequest:
    """Which examples somebody wants. `None` is for the suite to choose; `settings` are text, or values."""

    task: str
    split: str | None
    count: int
    length: int | None
    seed: int
    settings: Mapping[str, Any]


class OffersData(ABC):
    """A suite that prints examples of its tasks: `humboldt data`."""

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
        self, task: str, *, split: str | None, count: int, length: int | None, seed: int, settings: Mapping[str, Any]
    ) -> Iterator[tuple[list[str], list[str]]]:
        """Pairs of input and target symbols."""
        if task not in self.tasks_with_examples():
            raise unknown_name("task", task, self.tasks_with_examples())
        return self.examples(ExampleRequest(task, split, count, length, seed, settings))


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
class TextFile:
    """A file that somebody gave: its name, for error messages, and its lines."""

    name: str
    lines: Sequence[str]


class OffersScore(ABC):
    """A suite that scores anybody's predictions: `humboldt score`."""

    @abstractmethod
    def score_file(self, test: str, predictions: TextFile, *, twin: TextFile | None) -> dict[str, Any]:
        """The score of a file of predictions, as plain data. `twin` is a second file, for tests that compare two."""


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
