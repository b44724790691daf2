"""A task: a language posed as a learning problem."""

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from humboldt.languages._alphabet import Alphabet
from humboldt.problems import ProblemKind
from humboldt.registry import Registry


class AbstractTask(ABC):
    """Declares what generic code needs. A task is one object in one file, registered as `suite/task`.

    `examples` are worked by hand (or printed in the paper), as `(input, target)` with symbols separated by single
    spaces; a contract test holds the oracle to them. Every oracle refuses symbols that are not in the input alphabet:
    that is added to it here, so that none forgets it.
    """

    problem: ClassVar[ProblemKind]
    input_alphabet: Alphabet  # of the instance where it depends on the task's settings
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
        """The target of one input, computed in the slow and obvious way."""


def _refusing_unknown_symbols(oracle: Callable[..., list[str]]) -> Callable[..., list[str]]:
    @functools.wraps(oracle)
    def checked(self: AbstractTask, symbols: Sequence[str]) -> list[str]:
        self.input_alphabet.encode(symbols)
        return oracle(self, symbols)

    return checked


tasks: Registry[type[AbstractTask]] = Registry("task", "humboldt.languages", layout="files in folders")
