"""What networks can do, beside being called."""

from abc import abstractmethod
from typing import Any, ClassVar

import equinox as eqx
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

Tokens = Int[Array, " time"]
Mask = Bool[Array, " time"]
"""True for real tokens, false for padding."""


class AbstractStepwise(eqx.Module):
    """A network that can be given one token at a time: the same numbers as all at once, up to rounding.

    Whoever derives a network from this class can have it fed its own answers, and read by the measures of BLISS.
    `prefers_steps` says whether a string is read faster step by step where gradients are not needed: true where a step
    costs the same, however many came before.
    """

    prefers_steps: ClassVar[bool] = True

    @abstractmethod
    def start(self, tokens: Tokens, mask: Mask | None = None, key: PRNGKeyArray | None = None) -> Any:
        """The state before the first of these tokens. Without a mask all of them are real. With a key, dropout is on
        in all steps.

        How many tokens there are says how many steps there can be. A network may look only at those that are known
        beforehand: the input, which ends before the first mark (`∅`).
        """

    @abstractmethod
    def step(self, state: Any, token: Int[Array, ""]) -> tuple[Any, Float[Array, " out"]]:
        """One token in, the next state and the logits after that token out."""


class AbstractAtOnce(eqx.Module):
    """A network that reads all tokens at once, and can show its internals."""

    @abstractmethod
    def run(
        self, tokens: Int[Array, " time"], mask: Bool[Array, " time"], key: PRNGKeyArray | None
    ) -> tuple[Float[Array, "time out"], dict[str, Array]]:
        """The logits, and the internals by name. Those that nobody uses are never computed in a compiled program."""

    def __call__(
        self, tokens: Int[Array, " time"], mask: Bool[Array, " time"], *, key: PRNGKeyArray | None = None
    ) -> Float[Array, "time out"]:
        """Logits at every position. With a key, dropout is on."""
        return self.run(tokens, mask, key)[0]

    def inspect(self, tokens: Int[Array, " time"], mask: Bool[Array, " time"]) -> dict[str, Array]:
        """What happened inside, by name; see `run`."""
        return self.run(tokens, mask, None)[1]
