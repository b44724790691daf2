"""A task: a language posed as a learning problem."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from humboldt.languages._alphabet import Alphabet
from humboldt.problems import ProblemKind
from humboldt.registry import Registry


class AbstractTask(ABC):
    """Declares what generic code needs. A task is one object in one file, registered as `suite/task`.

    `examples` are worked by hand (or printed in the paper), as `(input, target)` with symbols separated by single
    spaces; a contract test holds the oracle to them.
    """

    problem: ClassVar[ProblemKind]
    input_alphabet: Alphabet  # of the instance where it depends on the task's settings
    output_alphabet: Alphabet
    chance: ClassVar[float]
    examples: ClassVar[tuple[tuple[str, str], ...]]

    @abstractmethod
    def oracle(self, symbols: Sequence[str]) -> list[str]:
        """The target of one input, computed in the slow and obvious way."""


tasks: Registry[type[AbstractTask]] = Registry("task", "humboldt.languages", layout="files in folders")
