"""What the tasks of this suite share: a level in the hierarchy and a sampler by length."""

import enum
from abc import abstractmethod
from typing import ClassVar

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages import AbstractTask, Pairs, ProblemKind


class Level(enum.Enum):
    """The automaton that the transduction needs (paper, section 3)."""

    REGULAR = "regular"
    DETERMINISTIC_CONTEXT_FREE = "dcf"
    CONTEXT_SENSITIVE = "cs"


class AbstractTransduction(AbstractTask):
    """A function from strings to strings, sampled at any length.

    `shortest` is the smallest length for which the task makes sense.
    """

    problem = ProblemKind.TRANSDUCTION
    level: ClassVar[Level]
    shortest: ClassVar[int] = 1

    def sample(self, rng: np.random.Generator, count: int, length: int) -> Pairs:
        """`count` random pairs whose inputs have `length` symbols, drawn from `rng` and nothing else."""
        if length < self.shortest:
            raise UsageError(
                f"Length {length} is too short for this task: its inputs have at least {self.shortest} symbols. "
                f"Ask for a length of {self.shortest} or more."
            )
        return self._sample(rng, count, length)

    @abstractmethod
    def _sample(self, rng: np.random.Generator, count: int, length: int) -> Pairs:
        """`sample` for a length that is long enough."""
