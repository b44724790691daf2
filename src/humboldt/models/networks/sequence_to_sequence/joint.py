"""One Transformer over a source and its target together (He et al. 2018; Fonollosa et al. 2019)."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from humboldt.core.internals import Internal
from humboldt.models.layers.attention import KeysValues
from humboldt.models.layers.blocks import Block, make_layers, over_layers
from humboldt.models.layers.decoder import written
from humboldt.models.layers.dropout import split_or_none
from humboldt.models.layers.linear import Linear
from humboldt.models.networks.sequence_to_sequence.base import AbstractSequenceToSequence
from humboldt.models.networks.sequence_to_sequence.transformer import (
    Decoding,
    Embedding,
    Memory,
    TransformerOptions,
    with_first_weights,
)


class JointSequenceToSequence(AbstractSequenceToSequence):
    """The same blocks read the source and write the target; there is no cross-attention.

    A token of the source attends to the whole source, a token of the target attends to the source and to the target up
    to itself, both as they enter the layer. Two learned vectors distinguish source and target. Choices are those of the
    authors' code, which is an extension of fairseq: normalisation after each layer, and a readout that is the embedding
    of the target, if `tied`.
    """

    source_embedding: Embedding
    target_embedding: Embedding
    blocks: Block
    readout: Linear | None  # none: the embedding of the target

    def __init__(
        self, input_size: int, output_size: int, options: TransformerOptions, *, tied: bool, key: PRNGKeyArray
    ) -> None:
        k_source, k_target, k_blocks, k_weights, k_readout = jax.random.split(key, 5)
        self.source_embedding = Embedding(input_size, options, has_language=True, key=k_source)
        self.target_embedding = Embedding(output_size, options, has_language=True, key=k_target)
        blocks = make_layers(lambda key: Block(options.block(), key=key), options.num_layers, key=k_blocks)
        self.blocks = with_first_weights(blocks, options.toolkit, input_biases=False, key=k_weights)
        readout = Linear(options.width, output_size, use_bias=False, key=k_readout)
        weight = jax.random.normal(k_readout, readout.weight.shape) * options.width**-0.5
        self.readout = None if tied else eqx.tree_at(lambda layer: layer.weight, readout, weight)

    def encode(
        self, source: Int[Array, " source"], mask: Bool[Array, " source"], *, key: PRNGKeyArray | None = None
    ) -> Memory:
        k_embedding, k_blocks = split_or_none(key, 2)
        visible = jnp.broadcast_to(mask[None, :], (len(mask), len(mask)))

        def apply(block: Any, x: Array, _: Any, key: PRNGKeyArray | None) -> tuple[Array, dict[str, Any]]:
            seen = block.remember(x)
            x, _ = block(x, visible, seen, key=key)
            return x, {"seen": seen}

        _, notes = over_layers(self.blocks, apply, self.source_embedding(source, key=k_embedding), key=k_blocks)
        return Memory(notes["seen"], mask)

    def decode(
        self, memory: Memory, told: Int[Array, " target"], *, key: PRNGKeyArray | None = None
    ) -> Float[Array, "target out"]:
        x, _ = self._written(memory, told, None, 0, key=key)
        return self._read(x)

    def inspect(
        self, source: Int[Array, " source"], mask: Bool[Array, " source"], told: Int[Array, " target"]
    ) -> dict[str, Internal]:
        _, notes = self._written(self.encode(source, mask), told, None, 0)
        axes = ("layer", "head", "time", "token")
        return {"attention to source and target": Internal(notes["attention"], axes, first=len(source))}

    def start(self, memory: Memory, longest: int) -> Decoding:
        shape = (memory.source.keys.shape[0], longest, *memory.source.keys.shape[2:])
        room = jnp.zeros(shape, memory.source.keys.dtype)
        return Decoding(jnp.zeros((), jnp.int32), memory, KeysValues(room, room))

    def step(self, state: Decoding, token: Int[Array, ""]) -> tuple[Decoding, Float[Array, " out"]]:
        x, notes = self._written(state.memory, token[None], state.past, state.place)
        return Decoding(state.place + 1, state.memory, notes["past"]), self._read(x)[0]

    def _written(
        self,
        memory: Memory,
        tokens: Int[Array, " new"],
        past: KeysValues | None,
        first: int | Int[Array, ""],
        *,
        key: PRNGKeyArray | None = None,
    ) -> tuple[Float[Array, "new width"], dict[str, Any]]:
        """Returns the target's tokens at `first, first + 1, ...` after the last block; and of every block the `past`
        including them and the `attention` matrices."""
        k_embedding, k_blocks = split_or_none(key, 2)
        places = first + jnp.arange(len(tokens))

        def apply(block: Any, x: Array, remembered: Any, key: PRNGKeyArray | None) -> tuple[Array, dict[str, Any]]:
            source, past = remembered
            past = written(past, block.remember(x), first)
            seen = KeysValues(*(jnp.concatenate(parts) for parts in zip(source, past, strict=True)))
            is_before = places[:, None] >= jnp.arange(len(past.keys))[None, :]
            of_source = jnp.broadcast_to(memory.mask[None, :], (len(tokens), len(memory.mask)))
            x, notes = block(x, jnp.concatenate([of_source, is_before], 1), seen, key=key)
            return x, {"past": past, "attention": notes["attention"]}

        x = self.target_embedding(tokens, first, key=k_embedding)
        return over_layers(self.blocks, apply, x, (memory.source, past), key=k_blocks)

    def _read(self, x: Float[Array, "time width"]) -> Float[Array, "time out"]:
        if self.readout is None:
            return x @ self.target_embedding.weight.T.astype(x.dtype)
        return jax.vmap(self.readout)(x)
