"""The Transformer encoder of Delétang et al. (2023)."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from humboldt.models.layers.blocks import BlockOptions, Blocks
from humboldt.models.layers.dropout import split_or_none
from humboldt.models.layers.embedding import ScaledEmbedding
from humboldt.models.layers.linear import Linear
from humboldt.models.networks.base import AbstractAtOnce
from humboldt.models.zoo.shared.attention import SinCosFrom


def count_places(time: int, length: Int[Array, ""], count_from: SinCosFrom) -> Int[Array, " time"]:
    """Returns the positions for sinusoids: 0, 1, 2, ... or, counted from the end of `length` tokens, ..., 3, 2, 1."""
    return jnp.arange(time) if count_from == "start" else length.astype(jnp.int32) - jnp.arange(time)


class EncoderNetwork(AbstractAtOnce):
    """Embedding, blocks in which every token attends to every other, and a linear readout at every position."""

    embedding: ScaledEmbedding
    blocks: Blocks
    readout: Linear
    count_from: SinCosFrom = eqx.field(static=True)
    options: BlockOptions = eqx.field(static=True)

    def __init__(
        self,
        input_size: int,
        output_size: int,
        num_layers: int,
        options: BlockOptions,
        *,
        count_from: SinCosFrom,
        key: PRNGKeyArray,
    ) -> None:
        k_embedding, k_blocks, k_readout = jax.random.split(key, 3)
        self.embedding = ScaledEmbedding(
            input_size,
            options.width,
            use_sin_cos=options.positions in ("sin_cos", "random_sin_cos"),
            dropout=options.dropout,
            key=k_embedding,
        )
        self.blocks = Blocks(num_layers, options, key=k_blocks)
        self.readout = Linear(options.width, output_size, key=k_readout)
        self.count_from = count_from
        self.options = options

    def run(
        self, tokens: Int[Array, " time"], mask: Bool[Array, " time"], key: PRNGKeyArray | None
    ) -> tuple[Float[Array, "time out"], dict[str, Array]]:
        """Returns logits at every position, of which those at the `∅` are the answer; and `attention` [layer, head,
        time, time] and `states` [layer, time, width]."""
        k_embedding, k_blocks = split_or_none(key, 2)
        drawn = self.options.places(mask.sum(), len(tokens), key=key)
        places = count_places(len(tokens), mask.sum(), self.count_from) if drawn is None else drawn
        x, internals = self.blocks(self.embedding(tokens, places, key=k_embedding), mask, places=drawn, key=k_blocks)
        return jax.vmap(self.readout)(x), internals
