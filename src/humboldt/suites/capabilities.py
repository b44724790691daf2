"""Abilities of suites that not all of them have."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar

from humboldt.errors import unknown_name
from humboldt.languages import tasks
from humboldt.suites import catalogue, conformance
from humboldt.suites.own_tasks import register_language
from humboldt.suites.plans import outside_trainings


@dataclass(frozen=True)
class ExampleRequest:
    """A request for examples. `None` lets the suite choose; `settings` are text, or values.

    A `count` of `None` means the whole split. `preset` says which settings they are changes of.
    """

    task: str
    split: str | None
    count: int | None
    length: int | None
    seed: int
    settings: Mapping[str, Any]
    preset: str = "paper"


@dataclass(frozen=True)
class Split:
    """Examples of a task that are shared as a file: the part that they belong to (`train`, `test`), the `split` and
    `settings` of `OffersData.data` that give them, and columns with one value for all."""

    part: str
    split: str | None
    settings: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)


class OffersData(ABC):
    """A suite that prints examples of its tasks: `humboldt data`."""

    data_options: ClassVar[tuple[str, ...]] = ()  # of the command line, that not every suite has
    has_minimal_pairs: ClassVar[bool] = False  # whether an ungrammatical string follows the one it is made from

    def tasks_with_examples(self) -> list[str]:
        """Returns the names for which there are examples: all tasks, and others that a suite adds."""
        return catalogue.tasks(self)  # pyright: ignore[reportArgumentType]  a suite inherits this

    def shared_splits(self, task: str) -> list[Split]:
        """Returns the splits of a task that `humboldt export hub` writes."""
        return [Split("train", None), Split("test", "test")]

    @abstractmethod
    def examples(self, request: ExampleRequest) -> Iterator[tuple[list[str], list[str]]]:
        """Yields pairs of input and target symbols. The task is one of the suite's."""

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
        """Yields pairs of input and target symbols; all of a split if `count` is `None`."""
        task = register_language(self, task)  # pyright: ignore[reportArgumentType]  a suite inherits this
        if task not in self.tasks_with_examples():
            raise unknown_name("task", task, self.tasks_with_examples())
        return self.examples(ExampleRequest(task, split, count, length, seed, settings, preset))


class OffersLabelledStrings(OffersData):
    """A suite that draws strings with labels at lengths that are asked for. `settings_of_prompts` hold for strings in
    prompts, unless others are given."""

    settings_of_prompts: ClassVar[Mapping[str, Any]] = MappingProxyType({})

    @abstractmethod
    def settings_of_lengths(self, count: int, first: int, last: int) -> dict[str, Any]:
        """Returns the settings with which the split `train` has about `count` strings of `first` to `last` symbols,
        perhaps beside others."""


class OffersCheck:
    """A suite that compares examples of other implementations with its definition: `humboldt check`."""

    def check(
        self, task: str, lines: Sequence[str], settings: Mapping[str, Any] = MappingProxyType({})
    ) -> conformance.Report:
        """Compares examples of a task, as JSON lines, with its oracle. `settings` are changes to the task and to its
        data."""
        suite: Any = self
        task = register_language(suite, task)
        resolved, *_ = outside_trainings(suite, task, "any", catalogue.PAPER, settings)
        name = f"{suite.name}/{task}"
        return conformance.check_examples(name, tasks.entry(name).version, resolved.task, lines)


@dataclass(frozen=True)
class WrongString:
    """The shortest of many strings that a member gets wrong. `answer` and `expected` are empty where the caller can
    compute them; `input` is empty where all were right. `tried`: the strings that were tried, in words."""

    input: tuple[str, ...] | None
    tried: str
    answer: tuple[str, ...] | None = None
    expected: tuple[str, ...] | None = None


class OffersWrongStrings(ABC):
    """A suite that can find the shortest string that a trained member gets wrong."""

    @abstractmethod
    def first_wrong(self, resolved: Any, predictor: Any, detail: Mapping[str, Any]) -> WrongString | None:
        """Returns the shortest string that a predictor of one member gets wrong, of those that are tried; `None` if it
        is not known. `detail` has the stored details of the member's scores.
        """
