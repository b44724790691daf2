"""Base classes of networks that can also be run step by step, or inspected."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import equinox as eqx
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from humboldt.core.internals import TIME, Internal

Tokens = Int[Array, " time"]
Mask = Bool[Array, " time"]
"""True for real tokens, false for padding."""


class AbstractStepwise(eqx.Module):
    """A network that can read one token at a time: the same numbers as all at once, up to rounding.

    A network derived from this class can be fed its own answers, and be scored by the measures of BLISS.
    `prefers_steps` is true if a string is read faster step by step where gradients are not needed: if the cost of a
    step does not depend on the number of steps before it.
    """

    prefers_steps: ClassVar[bool] = True

    def numbers_at_once(self, tokens: Tokens) -> int | None:
        """Returns how many numbers are in memory while tokens are read at once, if this is faster here although
        `prefers_steps`; otherwise `None`. Called in evaluation, without gradients."""
        del tokens
        return None

    @abstractmethod
    def start(self, tokens: Tokens, mask: Mask | None = None, key: PRNGKeyArray | None = None) -> Any:
        """Returns the state before the first of these tokens. Without a mask all of them are real. With a key, dropout
        is on in all steps.

        The number of tokens is the largest number of steps. A network may read only the tokens that are known
        beforehand: the input, which ends before the first mark (`∅`).
        """

    @abstractmethod
    def step(self, state: Any, token: Int[Array, ""]) -> tuple[Any, Float[Array, " out"]]:
        """Reads one token; returns the next state and the logits after that token."""


class AbstractInspectable(eqx.Module):
    """A network that exposes its internals, for `humboldt.load` and `humboldt inspect`."""

    @abstractmethod
    def inspect(self, tokens: Int[Array, " time"], mask: Bool[Array, " time"]) -> dict[str, Internal]:
        """Returns the internals by name while these tokens are read."""


class AbstractAtOnce(AbstractInspectable):
    """A network that reads all tokens at once.

    `axes` names the axes of the internals that `run` returns; `seen` are the tokens that a token attends to.
    """

    axes: ClassVar[Mapping[str, tuple[str, ...]]] = {
        **dict.fromkeys(
            ("attention", "encoder_attention", "decoder_attention", "cross_attention"), ("layer", "head", TIME, "seen")
        ),
        "states": ("layer", TIME, "width"),
    }

    @abstractmethod
    def run(
        self, tokens: Int[Array, " time"], mask: Bool[Array, " time"], key: PRNGKeyArray | None
    ) -> tuple[Float[Array, "time out"], dict[str, Array]]:
        """Returns the logits, and the internals by name. A compiled program never computes unused internals."""

    def __call__(
        self, tokens: Int[Array, " time"], mask: Bool[Array, " time"], *, key: PRNGKeyArray | None = None
    ) -> Float[Array, "time out"]:
        """Returns logits at every position. With a key, dropout is on."""
        return self.run(tokens, mask, key)[0]

    def inspect(self, tokens: Int[Array, " time"], mask: Bool[Array, " time"]) -> dict[str, Internal]:
        notes = self.run(tokens, mask, None)[1]
        return {name: Internal(values, self.axes[name]) for name, values in notes.items()}
