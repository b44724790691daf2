"""A task: a language posed as a learning problem."""

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from humboldt.core.problems import ProblemKind
from humboldt.languages.alphabet import Alphabet
from humboldt.languages.strings import Drawn
from humboldt.registry import Registry


class AbstractTask(ABC):
    """The attributes of a task that generic code needs. A task is one class in one file, registered as `suite/task`.

    `examples` are worked by hand (or printed in the paper), as `(input, target)` with symbols separated by single
    spaces; a contract test checks the oracle against them. Every oracle rejects symbols that are not in the input
    alphabet: the check is added to every subclass here, so that no task can omit it.
    """

    problem: ClassVar[ProblemKind]
    input_alphabet: Alphabet  # a property of the instance if it depends on the task's settings
    output_alphabet: Alphabet
    chance: ClassVar[float]
    examples: ClassVar[tuple[tuple[str, str], ...]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        oracle = cls.__dict__.get("oracle")
        if oracle is not None and not getattr(oracle, "__isabstractmethod__", False):
            cls.oracle = _refusing_unknown_symbols(oracle)

    @abstractmethod
    def oracle(self, symbols: Sequence[str]) -> list[str]:
        """Returns the target of one input, computed in the slow and obvious way."""

    def drawn_examples(self, seed: int) -> Iterator[Drawn]:
        """Yields strings as a training draws them, by which `humboldt.languages.contract` checks the task. There are
        none unless the base class of a suite's tasks draws them."""
        del seed
        return iter(())

    def verify(self) -> None:  # noqa: B027  most tasks are only held to their oracle
        """Raises an error unless the task has the properties that its suite relies on, beside a right oracle."""


def _refusing_unknown_symbols(oracle: Callable[..., list[str]]) -> Callable[..., list[str]]:
    @functools.wraps(oracle)
    def checked(self: AbstractTask, symbols: Sequence[str]) -> list[str]:
        self.input_alphabet.encode(symbols)
        return oracle(self, symbols)

    return checked


tasks: Registry[type[AbstractTask]] = Registry(
    "task", "humboldt.languages", layout="files in folders", folders_of="humboldt.suites"
)
