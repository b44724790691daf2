"""The Transformer classifiers of *Targeted syntactic evaluations with pseudo-languages*."""

from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from humboldt.models.layers.blocks import BlockOptions, Blocks
from humboldt.models.layers.dropout import dropout, split_or_none
from humboldt.models.layers.embedding import NormalEmbedding
from humboldt.models.layers.linear import Linear, uniform_like, uniform_linear
from humboldt.models.layers.positions import sinusoids
from humboldt.models.networks.base import AbstractAtOnce
from humboldt.models.networks.pooling import at_every_step, at_last, mean_of_real


class TransformerClassifierNetwork(AbstractAtOnce):
    """Word vectors plus sinusoids, blocks, and a linear layer on the mean of the tokens or on the last one."""

    embedding: NormalEmbedding
    blocks: Blocks
    readout: Linear
    pooling: Literal["mean", "last"] = eqx.field(static=True)
    embedding_dropout: float = eqx.field(static=True)

    def __init__(
        self,
        input_size: int,
        output_size: int,
        num_layers: int,
        options: BlockOptions,
        *,
        causal: bool,
        pooling: Literal["mean", "last"],
        embedding_dropout: float,
        alike_layers: bool,
        key: PRNGKeyArray,
    ) -> None:
        k_embedding, k_blocks, k_uniform, k_readout = jax.random.split(key, 4)
        blocks = Blocks(num_layers, options, causal=causal, key=k_blocks)
        self.embedding = NormalEmbedding(input_size, options.width, key=k_embedding)
        self.blocks = with_pytorch_weights(blocks, alike=alike_layers, key=k_uniform)
        self.readout = uniform_linear(options.width, output_size, key=k_readout)
        self.pooling = pooling
        self.embedding_dropout = embedding_dropout

    def run(
        self, tokens: Int[Array, " time"], mask: Bool[Array, " time"], key: PRNGKeyArray | None
    ) -> tuple[Float[Array, "time out"], dict[str, Array]]:
        """Returns the logits of the string, the same at every step; and `attention` [layer, head, time, time] and
        `states` [layer, time, width]."""
        k_embedding, k_blocks = split_or_none(key, 2)
        x = self.embedding(tokens)
        places = sinusoids(jnp.arange(len(tokens)), x.shape[1]).astype(x.dtype)
        x = dropout(x + places, self.embedding_dropout, k_embedding)
        x, internals = self.blocks(x, mask, key=k_blocks)
        pooled = at_last(x, mask) if self.pooling == "last" else mean_of_real(x, mask)
        return at_every_step(self.readout(pooled), mask), internals


def with_pytorch_weights(blocks: Blocks, *, alike: bool = False, key: PRNGKeyArray) -> Blocks:
    """Returns the same blocks with PyTorch's initial weights: uniform, and narrower for queries, keys and values.

    In PyTorch those three are one matrix with three times as many outputs, all counted by Glorot's rule. With `alike`
    all blocks start as copies of the first.
    """

    def layers(blocks: Blocks) -> tuple[Linear, ...]:
        attention, feed_forward = blocks.blocks.attention, blocks.blocks.feed_forward
        of_attention = (attention.query, attention.key, attention.value, attention.output)
        return (*of_attention, feed_forward.up, feed_forward.down)

    uniform = []
    for i, (layer, k) in enumerate(zip(layers(blocks), jax.random.split(key, 6), strict=True)):
        fan_in = layer.weight.shape[-2]  # the first axis is over blocks
        bound = (6 / (fan_in + 3 * fan_in)) ** 0.5 if i < 3 else fan_in**-0.5
        bias_bound = 0.0 if i < 4 else fan_in**-0.5
        uniform.append(uniform_like(layer, bound, bias_bound=bias_bound, key=k))
    if alike:
        uniform = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf[:1], leaf.shape), uniform)
    return eqx.tree_at(layers, blocks, tuple(uniform))
