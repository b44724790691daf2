"""The Transformer (Vaswani et al. 2017) as fairseq 0.9 and OpenNMT-py 0.6 have it."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from humboldt.core.internals import Internal
from humboldt.models.layers.attention import KeysValues
from humboldt.models.layers.blocks import BlockOptions, Blocks
from humboldt.models.layers.decoder import Decoder
from humboldt.models.layers.dropout import dropout, split_or_none
from humboldt.models.layers.linear import Linear, look_up, uniform_like
from humboldt.models.layers.positions import fairseq_wave_rates, sinusoids, wave_rates
from humboldt.models.loop.taps import is_linear
from humboldt.models.networks.sequence_to_sequence.base import AbstractSequenceToSequence
from humboldt.models.zoo.shared.sequence_to_sequence import Toolkit

PLACES_BEFORE = 2  # fairseq's count of places begins after the number of its padding symbol, which is 1


@dataclass(frozen=True)
class TransformerOptions:
    """Sizes of the network. `toolkit` decides everything else; see `TransformerSequenceToSequence`."""

    width: int
    num_heads: int
    feed_forward_size: int
    num_layers: int
    dropout: float
    positions: Literal["sin_cos", "relative"]
    share_layers: bool
    toolkit: Toolkit

    def block(self) -> BlockOptions:
        """Returns the options that all blocks share."""
        is_opennmt = self.toolkit == "opennmt"
        return BlockOptions(
            self.width,
            self.num_heads,
            self.feed_forward_size,
            positions="relative" if self.positions == "relative" else "none",
            dropout=self.dropout,
            inner_dropout=self.dropout if is_opennmt else 0.0,
            use_bias=True,
            norm_first=is_opennmt,
            norm_epsilon=1e-6 if is_opennmt else 1e-5,
            cross_positions=False,
        )


class Embedding(eqx.Module):
    """`sqrt(width)` times a learned vector, plus sinusoids of the place, with dropout on the sum.

    With `has_language`, another learned vector, the same for all tokens of the sequence, is added.
    """

    weight: Float[Array, "token width"]
    language: Float[Array, " width"] | None
    rates: tuple[float, ...] | None = eqx.field(static=True)  # of the sinusoids, where there are any
    first: int = eqx.field(static=True)  # the number of the first place
    dropout: float = eqx.field(static=True)

    def __init__(
        self, num_tokens: int, options: TransformerOptions, *, has_language: bool = False, key: PRNGKeyArray
    ) -> None:
        width = options.width
        vector = jax.random.normal(jax.random.fold_in(key, 1), (width,)) * width**-0.5
        self.language = vector if has_language else None
        if options.toolkit == "fairseq":
            self.weight = jax.random.normal(key, (num_tokens, width)) * width**-0.5
        else:
            bound = (6 / (num_tokens + width)) ** 0.5
            self.weight = jax.random.uniform(key, (num_tokens, width), minval=-bound, maxval=bound)
        rates = fairseq_wave_rates(width) if options.toolkit == "fairseq" else wave_rates(width)
        self.rates = tuple(rates.tolist()) if options.positions == "sin_cos" else None
        self.first = PLACES_BEFORE if options.toolkit == "fairseq" else 0
        self.dropout = options.dropout

    def __call__(
        self, tokens: Int[Array, " time"], begin: Int[Array, ""] | int = 0, *, key: PRNGKeyArray | None = None
    ) -> Float[Array, "time width"]:
        width = self.weight.shape[1]
        x = look_up(self.weight, tokens)
        x = (x if self.language is None else x + self.language[None]) * width**0.5
        if self.rates is not None:
            places = self.first + begin + jnp.arange(len(tokens))
            x = x + sinusoids(places, width, np.array(self.rates, np.float32)).astype(x.dtype)
        return dropout(x, self.dropout, key)


class Memory(NamedTuple):
    """The encoded source, for each layer that writes the target."""

    source: KeysValues
    mask: Bool[Array, " source"]


class Decoding(NamedTuple):
    """The state of decoding. Keys and values are cached, so that no symbol is processed twice."""

    place: Int[Array, ""]
    memory: Memory
    past: KeysValues


class TransformerSequenceToSequence(AbstractSequenceToSequence):
    """Encoder and decoder.

    fairseq: normalisation after each layer, no dropout inside layers, sinusoids counted from 2, a readout without bias.
    OpenNMT-py: normalisation before each layer and after the last, dropout also on attention matrices and inside
    feed-forward layers. The initial weights differ as well.
    """

    source_embedding: Embedding
    target_embedding: Embedding
    encoder: Blocks
    decoder: Decoder
    encoder_norm: eqx.nn.LayerNorm | None
    decoder_norm: eqx.nn.LayerNorm | None
    readout: Linear

    def __init__(self, input_size: int, output_size: int, options: TransformerOptions, *, key: PRNGKeyArray) -> None:
        k_source, k_target, k_encoder, k_decoder, k_weights, k_readout = jax.random.split(key, 6)
        block, width, is_fairseq = options.block(), options.width, options.toolkit == "fairseq"
        self.source_embedding = Embedding(input_size, options, key=k_source)
        self.target_embedding = Embedding(output_size, options, key=k_target)
        encoder = Blocks(options.num_layers, block, shared=options.share_layers, key=k_encoder)
        decoder = Decoder(options.num_layers, block, shared=options.share_layers, key=k_decoder)
        self.encoder, self.decoder = with_first_weights((encoder, decoder), options.toolkit, key=k_weights)
        norm = None if is_fairseq else eqx.nn.LayerNorm(width, block.norm_epsilon)
        self.encoder_norm = self.decoder_norm = norm
        readout = Linear(width, output_size, use_bias=not is_fairseq, key=k_readout)
        if is_fairseq:
            weight = jax.random.normal(k_readout, readout.weight.shape) * width**-0.5
            self.readout = eqx.tree_at(lambda layer: layer.weight, readout, weight)
        else:
            bound = (6 / (width + output_size)) ** 0.5
            self.readout = uniform_like(readout, bound, bias_bound=width**-0.5, key=k_readout)

    def encode(
        self, source: Int[Array, " source"], mask: Bool[Array, " source"], *, key: PRNGKeyArray | None = None
    ) -> Memory:
        k_embedding, k_blocks = split_or_none(key, 2)
        x, _ = self.encoder(self.source_embedding(source, key=k_embedding), mask, key=k_blocks)
        return Memory(self.decoder.remember(_normed(self.encoder_norm, x)), mask)

    def decode(
        self, memory: Memory, told: Int[Array, " target"], *, key: PRNGKeyArray | None = None
    ) -> Float[Array, "target out"]:
        k_embedding, k_blocks = split_or_none(key, 2)
        x = self.target_embedding(told, key=k_embedding)
        x, _ = self.decoder(x, memory.source, memory.mask, key=k_blocks)
        return jax.vmap(self.readout)(_normed(self.decoder_norm, x))

    def inspect(
        self, source: Int[Array, " source"], mask: Bool[Array, " source"], told: Int[Array, " target"]
    ) -> dict[str, Internal]:
        _, reading = self.encoder(self.source_embedding(source), mask)
        memory = self.encode(source, mask)
        _, writing = self.decoder(self.target_embedding(told), memory.source, memory.mask)
        axes, first = ("layer", "head", "time", "token"), len(source)
        return {
            "encoder attention": Internal(reading["attention"], axes),
            "decoder attention": Internal(writing["attention"], axes, first=first),
            "attention to the source": Internal(writing["cross_attention"], axes, first=first),
        }

    def start(self, memory: Memory, longest: int) -> Decoding:
        past = self.decoder.empty_past(longest)
        return Decoding(jnp.zeros((), jnp.int32), memory, past)

    def step(self, state: Decoding, token: Int[Array, ""]) -> tuple[Decoding, Float[Array, " out"]]:
        x = self.target_embedding(token[None], state.place)
        x, notes = self.decoder(x, state.memory.source, state.memory.mask, state.past, first=state.place)
        logits = self.readout(_normed(self.decoder_norm, x)[0])
        return Decoding(state.place + 1, state.memory, notes["past"]), logits


def _normed(norm: eqx.nn.LayerNorm | None, x: Float[Array, "time width"]) -> Float[Array, "time width"]:
    return x if norm is None else jax.vmap(norm)(x)


def with_first_weights(layers: Any, toolkit: Toolkit, *, input_biases: bool = True, key: PRNGKeyArray) -> Any:
    """Initialises all linear layers uniformly by Glorot's rule, with the exceptions of each toolkit.

    fairseq has narrower queries, keys and values, with the biases of PyTorch's linear layers (0 without
    `input_biases`), and biases of 0 in other layers. In OpenNMT-py all biases are PyTorch's.
    """
    count = len([leaf for leaf in jax.tree.leaves(layers, is_leaf=is_linear) if is_linear(leaf)])
    keys = iter(jax.random.split(key, count))

    def first(path: tuple[Any, ...], layer: Any) -> Any:
        if not is_linear(layer):
            return layer
        inputs, outputs = layer.weight.shape[-2:]  # the first axis is over layers
        is_input = path[-1].name in ("query", "key", "value")
        gain = 0.5**0.5 if toolkit == "fairseq" and is_input else 1.0
        has_bias = toolkit == "opennmt" or (is_input and input_biases)
        bound = gain * (6 / (inputs + outputs)) ** 0.5
        return uniform_like(layer, bound, bias_bound=inputs**-0.5 if has_bias else 0.0, key=next(keys))

    return jax.tree_util.tree_map_with_path(first, layers, is_leaf=is_linear)
