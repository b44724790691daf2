"""What every sequence-to-sequence network can do, for one example."""

from abc import abstractmethod
from typing import Any

import equinox as eqx
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from humboldt.internals import Internal
from humboldt.models.layers.dropout import split_or_none


class AbstractSequenceToSequence(eqx.Module):
    """An encoder and a decoder. Padding stands at the end of a source, and changes nothing.

    `decode` is told all symbols of a target at once, one step late; `start` and `step` give the same numbers one symbol
    at a time, up to rounding, for outputs of the network's own.
    """

    @abstractmethod
    def encode(
        self, source: Int[Array, " source"], mask: Bool[Array, " source"], *, key: PRNGKeyArray | None = None
    ) -> Any:
        """All that the decoder knows of a source. With a key, dropout is on."""

    @abstractmethod
    def decode(
        self, memory: Any, told: Int[Array, " target"], *, key: PRNGKeyArray | None = None
    ) -> Float[Array, "target out"]:
        """Logits of each symbol of a target. `told` is the symbol before each; the first is the start mark."""

    @abstractmethod
    def start(self, memory: Any, longest: int) -> Any:
        """The state before the first symbol of an output of at most `longest` symbols."""

    @abstractmethod
    def step(self, state: Any, token: Int[Array, ""]) -> tuple[Any, Float[Array, " out"]]:
        """The symbol before in, the next state and the logits of the next symbol out."""

    def settled(self) -> "AbstractSequenceToSequence":
        """The same network for many steps: what depends on weights alone is computed once, and not at every step."""
        return self

    def inspect(
        self, source: Int[Array, " source"], mask: Bool[Array, " source"], told: Int[Array, " target"]
    ) -> dict[str, Internal]:
        """What happens inside while it reads a source and writes what it is told: named arrays with named axes."""
        del source, mask, told
        return {}

    def __call__(
        self,
        source: Int[Array, " source"],
        source_mask: Bool[Array, " source"],
        told: Int[Array, " target"],
        target_mask: Bool[Array, " target"],
        *,
        key: PRNGKeyArray | None = None,
    ) -> Float[Array, "target out"]:
        """Logits of each symbol of a target. No symbol depends on those after it, so that the mask is not needed."""
        del target_mask
        k_encoder, k_decoder = split_or_none(key, 2)
        return self.decode(self.encode(source, source_mask, key=k_encoder), told, key=k_decoder)
