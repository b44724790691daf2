"""The base class of sequence-to-sequence networks, for one example."""

from abc import abstractmethod
from typing import Any

import equinox as eqx
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from humboldt.core.internals import Internal
from humboldt.models.layers.dropout import split_or_none


class AbstractSequenceToSequence(eqx.Module):
    """An encoder and a decoder. Padding is at the end of a source, and changes nothing.

    `decode` is given all symbols of a target at once, one step late; `start` and `step` return the same numbers one
    symbol at a time, up to rounding, for greedy decoding.
    """

    @abstractmethod
    def encode(
        self, source: Int[Array, " source"], mask: Bool[Array, " source"], *, key: PRNGKeyArray | None = None
    ) -> Any:
        """Returns the encoded source, as the decoder needs it. With a key, dropout is on."""

    @abstractmethod
    def decode(
        self, memory: Any, told: Int[Array, " target"], *, key: PRNGKeyArray | None = None
    ) -> Float[Array, "target out"]:
        """Returns logits of each symbol of a target. `told` is the target one step late, after the start mark."""

    @abstractmethod
    def start(self, memory: Any, longest: int) -> Any:
        """Returns the state before the first symbol of an output of at most `longest` symbols."""

    @abstractmethod
    def step(self, state: Any, token: Int[Array, ""]) -> tuple[Any, Float[Array, " out"]]:
        """Reads the previous symbol; returns the next state and the logits of the next symbol."""

    def settled(self) -> "AbstractSequenceToSequence":
        """Returns the same network, prepared for many steps: values that depend on weights alone are computed once."""
        return self

    def inspect(
        self, source: Int[Array, " source"], mask: Bool[Array, " source"], told: Int[Array, " target"]
    ) -> dict[str, Internal]:
        """Returns the internals by name, with named axes, while the network reads `source` and is given `told`."""
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
        """Returns logits of each symbol of a target. They do not depend on later symbols, so the mask is not needed."""
        del target_mask
        k_encoder, k_decoder = split_or_none(key, 2)
        return self.decode(self.encode(source, source_mask, key=k_encoder), told, key=k_decoder)
