"""The autoregressive Transformer of Delétang et al. (2023): an encoder and a decoder."""

from typing import ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from humboldt.models.layers.attention import KeysValues
from humboldt.models.layers.blocks import BlockOptions, Blocks
from humboldt.models.layers.decoder import Decoder
from humboldt.models.layers.dropout import split_or_none
from humboldt.models.layers.embedding import ScaledEmbedding
from humboldt.models.layers.linear import Linear
from humboldt.models.networks.base import AbstractAtOnce, AbstractStepwise, Mask, Tokens
from humboldt.models.networks.encoder import count_places
from humboldt.models.zoo.shared.attention import SinCosFrom


class Decoding(NamedTuple):
    """The state of decoding. The decoder caches keys and values, so that no token is processed twice."""

    position: Int[Array, ""]  # of the next token
    begin: Int[Array, ""]  # position of the first `∅`
    source: KeysValues
    past: KeysValues
    key: PRNGKeyArray | None  # for dropout


class EncoderDecoderNetwork(AbstractAtOnce, AbstractStepwise):
    """Reads `x_1 ... x_n ∅ y_1 ... y_(m-1)` and predicts `y_1 ... y_m` at the last `m` positions.

    The encoder reads only the tokens before the first `∅`; the decoder reads the `∅` and, causally, the tokens after
    it. Each position is thus the encoder's or the decoder's; at the encoder's positions all logits are 0.
    """

    source_embedding: ScaledEmbedding
    encoder: Blocks
    target_embedding: ScaledEmbedding
    decoder: Decoder
    readout: Linear
    num_symbols: int = eqx.field(static=True)
    count_from: SinCosFrom = eqx.field(static=True)
    prefers_steps: ClassVar[bool] = False  # a step attends to all steps before it

    def __init__(
        self,
        input_size: int,
        output_size: int,
        num_layers: int,
        options: BlockOptions,
        *,
        num_symbols: int,
        count_from: SinCosFrom,
        relative_offset: int,
        key: PRNGKeyArray,
    ) -> None:
        k_source, k_encoder, k_target, k_decoder, k_readout = jax.random.split(key, 5)

        def embedding(key: PRNGKeyArray) -> ScaledEmbedding:
            use_sin_cos = options.positions == "sin_cos"
            return ScaledEmbedding(input_size, options.width, use_sin_cos=use_sin_cos, dropout=options.dropout, key=key)

        self.source_embedding = embedding(k_source)
        self.encoder = Blocks(num_layers, options, key=k_encoder)
        self.target_embedding = embedding(k_target)
        self.decoder = Decoder(num_layers, options, relative_offset=relative_offset, key=k_decoder)
        self.readout = Linear(options.width, output_size, key=k_readout)
        self.num_symbols = num_symbols
        self.count_from = count_from

    def start(self, tokens: Tokens, mask: Mask | None = None, key: PRNGKeyArray | None = None) -> Decoding:
        """Returns the state before the first of these tokens, of which all before the first `∅` must be present.

        The tokens after the `∅` are not read: they may not be known yet. The length of `tokens` is the largest number
        of steps. The mask is not needed: there is no padding before the `∅`. With a key, dropout is on in all steps.
        """
        del mask
        k_encoder, k_steps = split_or_none(key, 2)
        begin = self._begin(tokens)
        encoded, _ = self._encode(tokens, jnp.arange(len(tokens)) < begin, k_encoder)
        past = self.decoder.empty_past(len(tokens))
        return Decoding(jnp.zeros((), jnp.int32), begin, self.decoder.remember(encoded), past, k_steps)

    def step(self, state: Decoding, token: Int[Array, ""]) -> tuple[Decoding, Float[Array, " out"]]:
        """Reads one token; returns the next state and the logits of `__call__`, in time linear in the length.

        The source must be stepped through as well, but was read by `start`: these steps have no lasting effect. What
        they write to the place of the `∅` in the past, the `∅` overwrites.
        """
        index = state.position - state.begin
        place = jnp.maximum(index, 0)
        k_step = None if state.key is None else jax.random.fold_in(state.key, state.position)
        k_embedding, k_decoder = split_or_none(k_step, 2)
        x = self.target_embedding(token[None], place[None], key=k_embedding)
        source_mask = jnp.arange(state.source.keys.shape[1]) < state.begin
        x, notes = self.decoder(x, state.source, source_mask, state.past, first=place, key=k_decoder)
        logits = jnp.where(index >= 0, self.readout(x[0]), 0.0)
        return state._replace(position=state.position + 1, past=notes["past"]), logits

    def _begin(self, tokens: Int[Array, " time"]) -> Int[Array, ""]:
        is_first = tokens == self.num_symbols
        return jnp.where(is_first.any(), jnp.argmax(is_first), len(tokens)).astype(jnp.int32)

    def _encode(self, tokens: Array, source_mask: Array, key: PRNGKeyArray | None) -> tuple[Array, dict[str, Array]]:
        k_embedding, k_blocks = split_or_none(key, 2)
        places = count_places(len(tokens), source_mask.sum(), self.count_from)
        return self.encoder(self.source_embedding(tokens, places, key=k_embedding), source_mask, key=k_blocks)

    def run(
        self, tokens: Int[Array, " time"], mask: Bool[Array, " time"], key: PRNGKeyArray | None
    ) -> tuple[Float[Array, "time out"], dict[str, Array]]:
        """Returns logits at every position, and internals whose every time axis is that of `tokens`.

        `encoder_attention`, `decoder_attention` and `cross_attention` are [layer, head, time, time], zero where the
        query belongs to the other half; `states` [layer, time, width] are those of the half that the position belongs
        to.
        """
        k_encoder, k_embedding, k_decoder = split_or_none(key, 3)
        time, begin = len(tokens), self._begin(tokens)
        source_mask = mask & (jnp.arange(time) < begin)
        encoded, encoder_notes = self._encode(tokens, source_mask, k_encoder)

        # The decoder's tokens are moved to the front, so that the first `∅` is at 0 whatever the length of the input.
        # The source wraps around to the back, where causality hides it.
        x = self.target_embedding(jnp.roll(tokens, -begin), jnp.arange(time), key=k_embedding)
        x, notes = self.decoder(x, self.decoder.remember(encoded), source_mask, key=k_decoder)

        def placed(of_decoder: Array, elsewhere: Array | float, axis: int) -> Array:
            """Moves values back to the places of `tokens` along `axis`; the encoder's places get `elsewhere`."""
            is_target = jnp.arange(time) >= begin
            where = jnp.expand_dims(is_target, [i for i in range(of_decoder.ndim) if i != axis])
            return jnp.where(where, jnp.roll(of_decoder, begin, axis), elsewhere)

        internals = {
            "encoder_attention": jnp.where(source_mask[:, None], encoder_notes["attention"], 0.0),
            "decoder_attention": placed(jnp.roll(notes["attention"], begin, 3), 0.0, 2),
            "cross_attention": placed(notes["cross_attention"], 0.0, 2),
            "states": placed(notes["states"], encoder_notes["states"], 1),
        }
        return placed(jax.vmap(self.readout)(x), 0.0, 0), internals
