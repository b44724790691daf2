"""Convolutions with gates, encoder and decoder, attention in every layer (Gehring et al. 2017, as fairseq has it)."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from humboldt.core.internals import Internal
from humboldt.models.layers.dropout import dropout, split_or_none
from humboldt.models.layers.linear import look_up
from humboldt.models.networks.sequence_to_sequence.base import AbstractSequenceToSequence

HALF = 0.5**0.5  # a sum of two is scaled by this, to keep its variance


class NormedLinear(eqx.Module):
    """`x @ (scale * direction / |direction|) + bias`: a linear layer with weight normalisation.

    Salimans and Kingma (2016). The norm is that of each output's weights, and `scale` is initially the norm. Without
    `scale`, the weight is `direction` itself.
    """

    direction: Float[Array, "in out"]
    scale: Float[Array, " out"] | None
    bias: Float[Array, " out"]

    def __init__(self, in_size: int, out_size: int, *, gain: float = 1.0, key: PRNGKeyArray) -> None:
        self.direction = jax.random.normal(key, (in_size, out_size)) * (gain / in_size) ** 0.5
        self.scale = jnp.linalg.norm(self.direction, axis=0)
        self.bias = jnp.zeros(out_size)

    def __call__(self, x: Float[Array, "time in"]) -> Float[Array, "time out"]:
        return x @ self._weight() + self.bias[None]

    def _weight(self) -> Float[Array, "in out"]:
        if self.scale is None:
            return self.direction
        length = jnp.sqrt((self.direction.astype(jnp.float32) ** 2).sum(0))  # of thousands of numbers
        return self.direction * (self.scale / length.astype(self.scale.dtype))[None]

    def settled(self) -> "NormedLinear":
        """Returns the same layer with its weight normalised in advance."""
        return eqx.tree_at(lambda layer: (layer.direction, layer.scale), self, (self._weight(), None))


class Embedding(eqx.Module):
    """The sum of one learned vector for the token and another for its place."""

    tokens: Float[Array, "token size"]
    places: Float[Array, "place size"]

    def __init__(self, num_tokens: int, num_places: int, size: int, *, key: PRNGKeyArray) -> None:
        k_tokens, k_places = jax.random.split(key)
        self.tokens = 0.1 * jax.random.normal(k_tokens, (num_tokens, size))
        self.places = 0.1 * jax.random.normal(k_places, (num_places, size))

    def __call__(self, tokens: Int[Array, " time"], first: Int[Array, ""] | int = 0) -> Float[Array, "time size"]:
        places = jnp.asarray(self.places).at[first + jnp.arange(len(tokens))].get(mode="clip")
        return look_up(self.tokens, tokens) + places


class Convolution(eqx.Module):
    """A convolution, then a gated linear unit; and a projection for the residual connection where the number of
    channels changes."""

    linear: NormedLinear  # on all places that one output depends on, side by side
    projection: NormedLinear | None
    width: int = eqx.field(static=True)

    def __init__(self, in_size: int, out_size: int, width: int, *, dropout: float, key: PRNGKeyArray) -> None:
        k_linear, k_projection = jax.random.split(key)
        self.linear = NormedLinear(width * in_size, 2 * out_size, gain=4 * (1 - dropout), key=k_linear)
        self.projection = None if in_size == out_size else NormedLinear(in_size, out_size, key=k_projection)
        self.width = width

    def __call__(self, x: Float[Array, "time in"], before: int) -> Float[Array, "time out"]:
        """Returns all outputs. A window begins `before` places before its output; beyond the ends there are zeros."""
        time = len(x)
        padded = jnp.pad(x, ((before, self.width - 1 - before), (0, 0)))
        seen = jnp.concatenate([padded[i : i + time] for i in range(self.width)], -1)
        return jax.nn.glu(self.linear(seen))

    def at_last(self, seen: Float[Array, "width in"]) -> Float[Array, "1 out"]:
        """Returns one output, from the window that it depends on."""
        return jax.nn.glu(self.linear(seen.reshape(1, -1)))

    def residual(self, x: Float[Array, "time in"]) -> Float[Array, "time out"]:
        """Returns the residual that is added to the output."""
        return x if self.projection is None else self.projection(x)


class Attention(eqx.Module):
    """Attention with unscaled scores, whose result is scaled by the square root of the source's length."""

    inwards: NormedLinear
    outwards: NormedLinear

    def __init__(self, channels: int, size: int, *, key: PRNGKeyArray) -> None:
        k_inwards, k_outwards = jax.random.split(key)
        self.inwards = NormedLinear(channels, size, key=k_inwards)
        self.outwards = NormedLinear(size, channels, key=k_outwards)

    def __call__(
        self, x: Float[Array, "time channel"], target: Float[Array, "time size"], memory: "Memory"
    ) -> tuple[Float[Array, "time channel"], Float[Array, "time source"]]:
        """Returns the result of attention at each place, and the attention matrix."""
        queries = (self.inwards(x) + target) * HALF
        scores = queries @ memory.keys.T
        weights = jax.nn.softmax(jnp.where(memory.mask[None], scores, jnp.finfo(scores.dtype).min))
        length = jnp.sqrt(memory.mask.sum().astype(jnp.float32)).astype(x.dtype)
        return (self.outwards(weights @ memory.values * length) + x) * HALF, weights


class Memory(NamedTuple):
    """The encoded source that the decoder attends to."""

    keys: Float[Array, "source size"]
    values: Float[Array, "source size"]
    mask: Bool[Array, " source"]


class Decoding(NamedTuple):
    """The state of decoding: for every layer, its inputs at the last few places."""

    place: Int[Array, ""]
    memory: Memory
    seen: tuple[Float[Array, "width channel"], ...]


class ConvolutionSequenceToSequence(AbstractSequenceToSequence):
    """Convolutions over the source, and over the output so far.

    `channels` and `widths` have an entry for each layer, the same in encoder and decoder.
    """

    source_embedding: Embedding
    target_embedding: Embedding
    source_in: NormedLinear
    source_out: NormedLinear
    target_in: NormedLinear
    target_out: NormedLinear
    readout: NormedLinear
    encoder: tuple[Convolution, ...]
    decoder: tuple[Convolution, ...]
    attention: tuple[Attention, ...]
    dropout: float = eqx.field(static=True)

    def __init__(
        self,
        input_size: int,
        output_size: int,
        *,
        embedding_size: int,
        channels: tuple[int, ...],
        widths: tuple[int, ...],
        bottleneck: int,
        num_places: int,
        dropout: float,
        key: PRNGKeyArray,
    ) -> None:
        keys = iter(jax.random.split(key, 7 + 3 * len(channels)))
        kept = 1 - dropout
        self.source_embedding = Embedding(input_size, num_places, embedding_size, key=next(keys))
        self.target_embedding = Embedding(output_size, num_places, embedding_size, key=next(keys))
        self.source_in = NormedLinear(embedding_size, channels[0], gain=kept, key=next(keys))
        self.source_out = NormedLinear(channels[-1], embedding_size, key=next(keys))
        self.target_in = NormedLinear(embedding_size, channels[0], gain=kept, key=next(keys))
        self.target_out = NormedLinear(channels[-1], bottleneck, key=next(keys))
        self.readout = NormedLinear(bottleneck, output_size, gain=kept, key=next(keys))
        sizes = list(zip([channels[0], *channels[:-1]], channels, widths, strict=True))

        def layers() -> tuple[Convolution, ...]:
            return tuple(Convolution(i, o, w, dropout=dropout, key=next(keys)) for i, o, w in sizes)

        self.encoder, self.decoder = layers(), layers()
        self.attention = tuple(Attention(o, embedding_size, key=next(keys)) for _, o, _ in sizes)
        self.dropout = dropout

    def encode(
        self, source: Int[Array, " source"], mask: Bool[Array, " source"], *, key: PRNGKeyArray | None = None
    ) -> Memory:
        k_embedding, *k_layers = split_or_none(key, 1 + len(self.encoder))
        embedded = dropout(self.source_embedding(source), self.dropout, k_embedding)
        x = self.source_in(embedded)
        for layer, k in zip(self.encoder, k_layers, strict=True):
            residual = layer.residual(x)
            x = jnp.where(mask[:, None], x, 0.0)
            x = layer(dropout(x, self.dropout, k), (layer.width - 1) // 2)
            x = (x + residual) * HALF
        x = jnp.where(mask[:, None], self.source_out(x), 0.0)
        # Every layer of the decoder attends to it; scaling keeps its gradient from growing with their number.
        x = _scale_gradient(x, 1 / (2 * len(self.attention)))
        return Memory(x, (x + embedded) * HALF, mask)

    def decode(
        self, memory: Memory, told: Int[Array, " target"], *, key: PRNGKeyArray | None = None
    ) -> Float[Array, "target out"]:
        return self._written(memory, told, key=key)[0]

    def inspect(
        self, source: Int[Array, " source"], mask: Bool[Array, " source"], told: Int[Array, " target"]
    ) -> dict[str, Internal]:
        _, looks = self._written(self.encode(source, mask), told)
        return {"attention to the source": Internal(jnp.stack(looks), ("layer", "time", "token"), first=len(source))}

    def _written(
        self, memory: Memory, told: Int[Array, " target"], *, key: PRNGKeyArray | None = None
    ) -> tuple[Float[Array, "target out"], list[Float[Array, "target source"]]]:
        """Returns the logits of each symbol, and each layer's attention to the source."""
        k_embedding, k_output, *k_layers = split_or_none(key, 2 + len(self.decoder))
        embedded = dropout(self.target_embedding(told), self.dropout, k_embedding)
        x = self.target_in(embedded)
        looks = []
        for layer, attention, k in zip(self.decoder, self.attention, k_layers, strict=True):
            y = layer(dropout(x, self.dropout, k), layer.width - 1)
            attended, weights = attention(y, embedded, memory)
            x = (attended + layer.residual(x)) * HALF
            looks.append(weights)
        return self.readout(dropout(self.target_out(x), self.dropout, k_output)), looks

    def settled(self) -> "ConvolutionSequenceToSequence":
        def is_layer(node: Any) -> bool:
            return isinstance(node, NormedLinear)

        return jax.tree.map(lambda node: node.settled() if is_layer(node) else node, self, is_leaf=is_layer)

    def start(self, memory: Memory, longest: int) -> Decoding:
        del longest
        sizes = [layer.linear.direction.shape[0] // layer.width for layer in self.decoder]
        seen = [jnp.zeros((layer.width, n), memory.keys.dtype) for layer, n in zip(self.decoder, sizes, strict=True)]
        return Decoding(jnp.zeros((), jnp.int32), memory, tuple(seen))

    def step(self, state: Decoding, token: Int[Array, ""]) -> tuple[Decoding, Float[Array, " out"]]:
        embedded = self.target_embedding(token[None], state.place)
        x = self.target_in(embedded)
        seen: list[Any] = []
        for layer, attention, before in zip(self.decoder, self.attention, state.seen, strict=True):
            seen.append(jnp.concatenate([before[1:], x]))
            y = layer.at_last(seen[-1])
            attended, _ = attention(y, embedded, state.memory)
            x = (attended + layer.residual(x)) * HALF
        return Decoding(state.place + 1, state.memory, tuple(seen)), self.readout(self.target_out(x))[0]


def _scale_gradient(x: Array, factor: float) -> Array:
    """Returns `x`, with its gradient multiplied by `factor`."""
    return factor * x + jax.lax.stop_gradient((1 - factor) * x)
