"""A causal network as one that maps sequences to sequences: it reads a source, a mark, then the target so far."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from humboldt.core.internals import Internal
from humboldt.models.networks.base import AbstractInspectable, AbstractStepwise
from humboldt.models.networks.sequence_to_sequence.base import AbstractSequenceToSequence


class Source(NamedTuple):
    """A source, of which the first `length` tokens are real."""

    tokens: Int[Array, " source"]
    length: Int[Array, ""]


class Text(NamedTuple):
    """The `length` tokens that a network without `step` has read, with room for later ones."""

    tokens: Int[Array, " time"]
    length: Int[Array, ""]


class Concatenated(AbstractSequenceToSequence):
    """Wraps a causal network, which keeps its own embedding and readout.

    Ids of the target are shifted by `shift`, the number of ids of sources, so that both keep their own vectors; the
    mark between them is the shifted start of the target. The target follows directly after the last real token of the
    source: padding of a source changes nothing. Logits are those from the mark on.
    """

    network: Any
    shift: int = eqx.field(static=True)

    @property
    def embedding(self) -> Any:
        """The embedding of sources and targets, if the network has one."""
        return getattr(self.network, "embedding", None)

    @property
    def readout(self) -> Any:
        """The readout, if the network has one."""
        return getattr(self.network, "readout", None)

    def encode(
        self, source: Int[Array, " source"], mask: Bool[Array, " source"], *, key: PRNGKeyArray | None = None
    ) -> Source:
        """Returns the source as it is: what is read of it depends on the room for the target."""
        del key
        return Source(source, mask.sum(dtype=jnp.int32))

    def decode(
        self, memory: Source, told: Int[Array, " target"], *, key: PRNGKeyArray | None = None
    ) -> Float[Array, "target out"]:
        tokens, mask = self._joined(memory, told)
        logits = self.network(tokens, mask, key=key)
        return jax.lax.dynamic_slice_in_dim(logits, memory.length, len(told))

    def start(self, memory: Source, longest: int) -> Any:
        """Returns the state after the source."""
        tokens, mask = self._joined(memory, jnp.zeros(longest, memory.tokens.dtype))
        if not isinstance(self.network, AbstractStepwise):
            return Text(tokens, memory.length)
        read = len(memory.tokens)

        def step(i: Array, state: Any) -> Any:
            after, _ = self.network.step(state, tokens[i])
            return jax.tree.map(lambda new, old: jnp.where(i < memory.length, new, old), after, state)

        return jax.lax.fori_loop(0, read, step, self.network.start(tokens, mask))

    def step(self, state: Any, token: Int[Array, ""]) -> tuple[Any, Float[Array, " out"]]:
        token = token + self.shift
        if isinstance(self.network, AbstractStepwise):
            return self.network.step(state, token)
        tokens = state.tokens.at[state.length].set(token.astype(state.tokens.dtype))
        logits = self.network(tokens, jnp.arange(len(tokens)) <= state.length)
        return Text(tokens, state.length + 1), logits[state.length]

    def inspect(
        self, source: Int[Array, " source"], mask: Bool[Array, " source"], told: Int[Array, " target"]
    ) -> dict[str, Internal]:
        """Returns the internals of the network while it reads the source and the target."""
        if not isinstance(self.network, AbstractInspectable):
            return {}
        return self.network.inspect(*self._joined(self.encode(source, mask), told))

    def _joined(self, memory: Source, told: Int[Array, " target"]) -> tuple[Int[Array, " time"], Bool[Array, " time"]]:
        """Returns the real tokens of the source, the shifted target, and then zeros; and which of them are real."""
        places = jnp.arange(len(memory.tokens) + len(told))
        room = jnp.concatenate([memory.tokens, jnp.zeros_like(told)])
        shifted = (told + self.shift).astype(room.dtype)
        tokens = jax.lax.dynamic_update_slice_in_dim(room, shifted, memory.length, 0)
        mask = places < memory.length + len(told)
        return jnp.where(mask, tokens, 0), mask
