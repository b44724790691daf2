"""What networks can do, beside being called."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import equinox as eqx
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from humboldt.internals import TIME, Internal

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


class AbstractInspectable(eqx.Module):
    """A network that shows what happens inside it: `humboldt.load` and `humboldt inspect` ask for it."""

    @abstractmethod
    def inspect(self, tokens: Int[Array, " time"], mask: Bool[Array, " time"]) -> dict[str, Internal]:
        """What happens inside while these tokens are read, by name."""


class AbstractAtOnce(AbstractInspectable):
    """A network that reads all tokens at once.

    `axes` names the axes of what `run` notes; `seen` are the tokens that a token attends to.
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
        """The logits, and the internals by name. Those that nobody uses are never computed in a compiled program."""

    def __call__(
        self, tokens: Int[Array, " time"], mask: Bool[Array, " time"], *, key: PRNGKeyArray | None = None
    ) -> Float[Array, "time out"]:
        """Logits at every position. With a key, dropout is on."""
        return self.run(tokens, mask, key)[0]

    def inspect(self, tokens: Int[Array, " time"], mask: Bool[Array, " time"]) -> dict[str, Internal]:
        notes = self.run(tokens, mask, None)[1]
        return {name: Internal(values, self.axes[name]) for name, values in notes.items()}
