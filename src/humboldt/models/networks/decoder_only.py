"""A decoder-only Transformer: every token attends to itself and the tokens before it."""

from typing import Any, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from humboldt.models.layers.attention import KeysValues
from humboldt.models.layers.blocks import BlockOptions, Blocks, over_layers, repeated
from humboldt.models.layers.decoder import written
from humboldt.models.layers.dropout import dropout, split_or_none
from humboldt.models.layers.embedding import NormalEmbedding
from humboldt.models.layers.linear import Linear, look_up, uniform_linear
from humboldt.models.layers.positions import sinusoids
from humboldt.models.layers.positions_random import draw_places
from humboldt.models.networks.base import AbstractAtOnce, AbstractStepwise, Mask, Tokens
from humboldt.models.networks.transformer_classifier import with_pytorch_weights
from humboldt.models.zoo.shared.attention import is_random

AfterInput = Literal["continue", "restart"]


class Reading(NamedTuple):
    """The number of tokens read, the places of all positions where they are not 0, 1, 2, ..., and keys and values."""

    length: Int[Array, ""]
    places: Int[Array, " position"] | None
    past: KeysValues


class DecoderOnlyNetwork(AbstractStepwise, AbstractAtOnce):
    """Embedding, blocks with normalisation first, a last normalisation, and a linear readout at every position.

    - `num_symbols`: the number of input symbols; larger token ids follow the input.
    - `after_input`: whether positions continue after the input, or restart at 0.
    - `num_places`: of randomised positions.
    """

    embedding: NormalEmbedding
    blocks: Blocks
    norm: eqx.nn.LayerNorm
    readout: Linear
    options: BlockOptions = eqx.field(static=True)
    num_symbols: int = eqx.field(static=True)
    after_input: AfterInput = eqx.field(static=True)
    prefers_steps = False

    def __init__(
        self,
        input_size: int,
        output_size: int,
        num_layers: int,
        options: BlockOptions,
        *,
        num_symbols: int,
        after_input: AfterInput,
        shared: bool,
        key: PRNGKeyArray,
    ) -> None:
        k_embedding, k_blocks, k_uniform, k_readout = jax.random.split(key, 4)
        self.embedding = NormalEmbedding(input_size, options.width, key=k_embedding)
        blocks = Blocks(num_layers, options, causal=True, shared=shared, key=k_blocks)
        self.blocks = with_pytorch_weights(blocks, key=k_uniform)
        self.norm = eqx.nn.LayerNorm(options.width)
        self.readout = uniform_linear(options.width, output_size, key=k_readout)
        self.options = options
        self.num_symbols = num_symbols
        self.after_input = after_input

    def run(
        self, tokens: Int[Array, " time"], mask: Bool[Array, " time"], key: PRNGKeyArray | None
    ) -> tuple[Float[Array, "time out"], dict[str, Array]]:
        """Returns logits at every position; and `attention` [layer, head, time, time] and `states` [layer, time,
        width]."""
        k_places, k_embedding, k_blocks = split_or_none(key, 3)
        places = self._places(tokens, mask, key=k_places)
        x = self._embedded(tokens, jnp.arange(len(tokens)) if places is None else places)
        x = dropout(x, self.options.dropout, k_embedding)
        x, notes = self.blocks(x, mask, places=places, key=k_blocks)
        return jax.vmap(self._read)(x), notes

    def start(self, tokens: Tokens, mask: Mask | None = None, key: PRNGKeyArray | None = None) -> Reading:
        """Returns the state before the first of these tokens. There is no dropout: a key changes nothing."""
        del key
        mask = jnp.ones(len(tokens), bool) if mask is None else mask
        attention = self.blocks.blocks.attention
        layers, heads = attention.query.weight.shape[0] * self.blocks.times, attention.num_heads
        room = jnp.zeros((layers, len(tokens), heads, self.options.width // heads), self.readout.weight.dtype)
        return Reading(jnp.zeros((), jnp.int32), self._places(tokens, mask), KeysValues(room, room))

    def step(self, state: Reading, token: Int[Array, ""]) -> tuple[Reading, Float[Array, " out"]]:
        length, places, past = state
        room = past.keys.shape[1]
        visible = jnp.arange(room)[None, :] <= length

        def apply(block: Any, x: Array, past: KeysValues, key: PRNGKeyArray | None) -> tuple[Array, dict[str, Any]]:
            del key
            past = written(past, block.remember(x, first=length, places=places), length)
            x, _ = block(x, visible, past, first=length, num_positions=room, places=places)
            return x, {"past": past}

        x = self._embedded(token[None], (length if places is None else places[length])[None])
        x, notes = over_layers(repeated(self.blocks.blocks, self.blocks.times), apply, x, past)
        return Reading(length + 1, places, notes["past"]), self._read(x[0])

    def _places(
        self, tokens: Int[Array, " time"], mask: Bool[Array, " time"], *, key: PRNGKeyArray | None = None
    ) -> Int[Array, " time"] | None:
        """Returns the places of all positions; `None` if they are 0, 1, 2, ..."""
        positions, places = jnp.arange(len(tokens)), None
        if is_random(self.options.positions):
            places = draw_places(mask.sum(dtype=jnp.int32), len(tokens), self.options.num_places, key=key)
        if self.after_input == "continue":
            return places
        is_after = mask & (tokens >= self.num_symbols)
        end = jnp.where(is_after.any(), jnp.argmax(is_after), len(tokens))
        order = jnp.where(positions < end, positions, positions - end)
        return order if places is None else places[order]

    def _embedded(self, tokens: Int[Array, " time"], places: Int[Array, " time"]) -> Float[Array, "time width"]:
        x = look_up(self.embedding.weight, tokens)
        if not self.options.positions.endswith("sin_cos"):
            return x
        return x + sinusoids(places, self.options.width).astype(x.dtype)

    def _read(self, x: Float[Array, " width"]) -> Float[Array, " out"]:
        return self.readout(self.norm(x))
