"""What the two Transformers of *Targeted syntactic evaluations with pseudo-languages* share: all but who sees whom."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from humboldt.models._attention import Blocks, check_heads, dropout, split_or_none
from humboldt.models._classifier import Embedding, at_last, check_sizes, everywhere, uniform_linear
from humboldt.models._linear import Linear
from humboldt.models._positions import sinusoids


class TransformerClassifierModel(eqx.Module):
    """Word vectors plus sinusoids, blocks, and a linear layer on the mean of the tokens or on the last one."""

    embedding: Embedding
    blocks: Blocks
    readout: Linear
    pooling: Literal["mean", "last"] = eqx.field(static=True)
    embedding_dropout: float = eqx.field(static=True)

    def __call__(
        self, tokens: Int[Array, " time"], mask: Bool[Array, " time"], *, key: PRNGKeyArray | None = None
    ) -> Float[Array, "time out"]:
        """The logits of the string, the same at every step. With a key, dropout is on."""
        return self._run(tokens, mask, key)[0]

    def inspect(self, tokens: Int[Array, " time"], mask: Bool[Array, " time"]) -> dict[str, Array]:
        """What happened inside: `attention` [layer, head, time, time] and `states` [layer, time, width]."""
        return self._run(tokens, mask, None)[1]

    def _run(self, tokens: Array, mask: Array, key: PRNGKeyArray | None) -> tuple[Array, dict[str, Array]]:
        k_embedding, k_blocks = split_or_none(key, 2)
        x = self.embedding(tokens)
        places = sinusoids(jnp.arange(len(tokens)), x.shape[1]).astype(x.dtype)
        x = dropout(x + places, self.embedding_dropout, k_embedding)
        x, internals = self.blocks(x, mask, key=k_blocks)
        if self.pooling == "last":
            pooled = at_last(x, mask)
        else:
            pooled = jnp.where(mask[:, None], x, 0.0).sum(0) / jnp.maximum(mask.sum(), 1).astype(x.dtype)
        return everywhere(self.readout(pooled), mask), internals


@dataclass(frozen=True, kw_only=True)
class TransformerClassifier:
    """Sizes of section 2.3. Three layers of these have 0.99M parameters; the printed 1.32M are those of four."""

    num_layers: int = 3
    num_heads: int = 4
    width: int = 128
    feed_forward_size: int = 1024
    dropout: float = 0.0  # not stated; PyTorch's blocks have 0.1 unless told otherwise
    # On the sum of word vectors and sinusoids; not stated; PyTorch's tutorial has 0.1.
    embedding_dropout: float = 0.0  # added later: stays out of the identity at its default
    # PyTorch's `nn.TransformerEncoder` copies one block, so that all begin with the same weights.
    alike_layers: bool = False  # added later: stays out of the identity at its default

    causal: ClassVar[bool]
    pooling: ClassVar[Literal["mean", "last"]]

    def __post_init__(self) -> None:
        check_sizes(self)
        check_heads(self.width, self.num_heads, "sin_cos")
        for name in ("dropout", "embedding_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name):g} is not a share. Use 0 or more and less than 1.")

    def build(
        self, input_size: int, output_size: int, *, num_symbols: int, key: PRNGKeyArray
    ) -> TransformerClassifierModel:
        """The network, freshly initialised."""
        del num_symbols
        k_embedding, k_blocks, k_start, k_readout = jax.random.split(key, 4)
        blocks = Blocks(
            self.num_layers,
            self.width,
            self.num_heads,
            self.feed_forward_size,
            dropout=self.dropout,
            inner_dropout=self.dropout,
            use_bias=True,
            causal=self.causal,
            key=k_blocks,
        )
        return TransformerClassifierModel(
            Embedding(input_size, self.width, key=k_embedding),
            as_pytorch_begins(blocks, alike=self.alike_layers, key=k_start),
            uniform_linear(self.width, output_size, key=k_readout),
            self.pooling,
            self.embedding_dropout,
        )


def as_pytorch_begins(blocks: Blocks, *, alike: bool = False, key: PRNGKeyArray) -> Blocks:
    """The same blocks with the initialisation of PyTorch's: uniform, and narrower for queries, keys and values.

    Those three are one matrix there, of three times as many outputs, which Glorot's rule counts. With `alike`
    all blocks begin as copies of the first.
    """

    def layers(blocks: Blocks) -> tuple[Linear, ...]:
        attention, feed_forward = blocks.blocks.attention, blocks.blocks.feed_forward
        ours = (attention.query, attention.key, attention.value, attention.output)
        return (*ours, feed_forward.up, feed_forward.down)

    new = []
    for i, (layer, k) in enumerate(zip(layers(blocks), jax.random.split(key, 6), strict=True)):
        fan_in = layer.weight.shape[-2]  # the first axis is that of the blocks
        bound = (6 / (fan_in + 3 * fan_in)) ** 0.5 if i < 3 else fan_in**-0.5
        bias_bound = 0.0 if i < 4 else fan_in**-0.5
        new.append(_uniform_like(layer, bound, bias_bound, key=k))
    if alike:
        new = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf[:1], leaf.shape), new)
    return eqx.tree_at(layers, blocks, tuple(new))


def _uniform_like(layer: Linear, bound: float, bias_bound: float, *, key: PRNGKeyArray) -> Linear:
    k_weight, k_bias = jax.random.split(key)
    assert layer.bias is not None
    weight = jax.random.uniform(k_weight, layer.weight.shape, minval=-bound, maxval=bound)
    bias = jax.random.uniform(k_bias, layer.bias.shape, minval=-bias_bound, maxval=bias_bound)
    return eqx.tree_at(lambda layer: (layer.weight, layer.bias), layer, (weight, bias))
