"""Abilities of predictors, as types.

A suite declares which it needs (`AbstractSuite.needs`), and an engine which its predictors have
(`AbstractEngine.abilities`), so that a plan refuses a model that could not be scored after training.

Returned arrays have a leading axis of members.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, TypeVar

import numpy as np

from humboldt.core.stepping import Stepper
from humboldt.errors import UsageError
from humboldt.languages import Batch

A = TypeVar("A", bound="AbstractAbility")


class AbstractAbility(ABC):
    """Base class of abilities. `words` completes the sentence "This suite needs models that can ..."."""

    words: ClassVar[str]


class CountsRight(AbstractAbility):
    """Compares answers with targets."""

    words = "say which symbols are right"

    @abstractmethod
    def correct(self, batch: Batch, *, number: int = 0) -> np.ndarray:
        """Returns the number of right target symbols of each row, shape `(member, batch)`.

        `number` distinguishes batches, for models that draw random numbers in tests.
        """


class GivesProbabilities(AbstractAbility):
    """Assigns probabilities to targets."""

    words = "give probabilities"

    @abstractmethod
    def nats(self, batch: Batch) -> np.ndarray:
        """Returns minus the log-probability of the target symbols of each row, shape `(member, batch)`.

        The arrays of the batch may begin with an axis of members.
        """


class WritesOutputs(AbstractAbility):
    """Generates output sequences."""

    words = "generate outputs"

    @abstractmethod
    def outputs(self, batch: Batch, longest: int) -> np.ndarray:
        """Returns greedy outputs of at most `longest` symbols for each source, shape `(member, batch, longest)`.

        An output is filled with the end symbol from its end on. An output without an end symbol is incomplete.
        """


class SearchesOutputs(AbstractAbility):
    """Generates output sequences by a beam search."""

    words = "search for outputs with a beam"

    @abstractmethod
    def beam_outputs(self, batch: Batch, longest: int, beam: int) -> np.ndarray:
        """Returns the most probable outputs that a search with `beam` hypotheses finds, in the form of
        `WritesOutputs.outputs`."""


class ReadsSymbols(AbstractAbility):
    """Reads a string symbol by symbol."""

    words = "read a string symbol by symbol"

    @abstractmethod
    def stepper(self, member: int, *, longest: int, most_memory: int) -> tuple[Stepper, int]:
        """Returns a stepper of one member for strings of up to `longest` symbols, and the number of rows of its
        batches.

        `most_memory` is the largest number of cells of a memory, independent of the number in training.
        """


class CanBeProved(AbstractAbility):
    """Decides whether a member is right about every string of a language."""

    words = "be proved right or wrong"

    @abstractmethod
    def verdict(self, member: int, *, language: str, measure: str, epsilon: float) -> dict[str, Any] | None:
        """Returns the verdict about one member and a language (`bliss/an_bn`) as plain data; see `humboldt.mdl.proofs`.

        Returns `None` if there are no proofs for the language.
        """


class HasNetwork(AbstractAbility):
    """Holds a network for each member."""

    words = "be inspected"

    @abstractmethod
    def model(self, member: int) -> Any:
        """Returns one member as a network, which can be called with tokens and mask (see `humboldt.models`) and may be
        a `humboldt.core.internals.Inspectable`."""


def ability(predictor: Any, wanted: type[A]) -> A:
    """Returns the predictor, typed as one with the ability. Raises a usage error if it does not have it."""
    if not isinstance(predictor, wanted):
        raise lacks(type(predictor).__name__, wanted)
    return predictor


def lacks(name: str, wanted: type[AbstractAbility]) -> UsageError:
    """Returns the error about a model that lacks an ability."""
    return UsageError(f"This suite needs models that can {wanted.words}, and `{name}` cannot.")
