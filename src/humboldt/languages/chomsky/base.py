"""The base class of the `chomsky` tasks: a level in the hierarchy and a sampler by length."""

import enum
from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages import AbstractTask, Alphabet, Drawn, Pairs, ProblemKind

CHECKED_LENGTHS = {1: 24, 2: 24, 3: 24, 4: 24, 5: 24, 8: 24, 13: 24, 24: 24, 40: 24, 120: 4}  # strings of each length


def letters(count: int) -> Alphabet:
    """Returns the alphabet of the first `count` letters."""
    return Alphabet(tuple("abcdefghijklmnopqrstuvwxyz"[:count]))


class Level(enum.Enum):
    """The level of a transduction in the hierarchy (paper, section 3)."""

    REGULAR = "regular"
    DETERMINISTIC_CONTEXT_FREE = "dcf"
    CONTEXT_SENSITIVE = "cs"


class AbstractTransduction(AbstractTask):
    """A function from strings to strings, sampled at any length.

    `shortest` is the smallest length for which the task makes sense. With `answers_at_every_step`, target symbol
    number i is the answer to input symbol number i, and is given where that is read, not after the whole input.
    """

    problem = ProblemKind.TRANSDUCTION
    level: ClassVar[Level]
    shortest: ClassVar[int] = 1
    answers_at_every_step: bool = False

    def sample(self, rng: np.random.Generator, count: int, length: int) -> Pairs:
        """Returns `count` random pairs whose inputs have `length` symbols. All randomness comes from `rng`."""
        if length < self.shortest:
            raise UsageError(
                f"Length {length} is too short for this task: its inputs have at least {self.shortest} symbols. "
                f"Ask for a length of {self.shortest} or more."
            )
        return self.draw(rng, count, length)

    def length_of(self, length: int) -> int:
        """Returns the length that is drawn if `length` is asked for: another one if no string has that length."""
        return length

    def drawn_examples(self, seed: int) -> Iterator[Drawn]:
        rng = np.random.default_rng(seed)
        for length, count in CHECKED_LENGTHS.items():
            if length >= self.shortest:
                pairs = self.sample(rng, count, length)
                try:
                    pairs.check(count)
                except ValueError as error:
                    raise ValueError(f"at length {length}: {error}") from error
                yield Drawn.of_pairs(pairs, self.length_of(length))

    @abstractmethod
    def draw(self, rng: np.random.Generator, count: int, length: int) -> Pairs:
        """Implements `sample`; `length` is at least `shortest`."""
