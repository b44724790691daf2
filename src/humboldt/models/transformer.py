"""The autoregressive Transformer of Delétang et al. (2023): an encoder and a decoder."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from humboldt.models import models
from humboldt.models._attention import Blocks, KeysValues, check_heads, split_or_none
from humboldt.models._decoder import Decoder
from humboldt.models._embedding import Embedding
from humboldt.models._linear import Linear
from humboldt.models._positions import Positions
from humboldt.models.transformer_encoder import count_places


class Decoding(NamedTuple):
    """Where decoding stands. The decoder remembers keys and values, so that no token is ever processed twice."""

    position: Int[Array, ""]  # of the next token
    begin: Int[Array, ""]  # position of the first `∅`
    source: KeysValues
    past: KeysValues
    key: PRNGKeyArray | None  # for dropout


class EncoderDecoderModel(eqx.Module):
    """Reads `x_1 ... x_n ∅ y_1 ... y_(m-1)` and says `y_1 ... y_m` at the last `m` positions.

    The encoder sees what stands before the first `∅` and nothing else; the decoder sees the `∅` and, causally, what
    follows it. Each position is thus the encoder's or the decoder's, and where it is the encoder's all logits are 0.
    """

    source_embedding: Embedding
    encoder: Blocks
    target_embedding: Embedding
    decoder: Decoder
    readout: Linear
    num_symbols: int = eqx.field(static=True)
    count_from: Literal["start", "end"] = eqx.field(static=True)

    def __call__(
        self, tokens: Int[Array, " time"], mask: Bool[Array, " time"], *, key: PRNGKeyArray | None = None
    ) -> Float[Array, "time out"]:
        """Logits at every position. With a key, dropout is on."""
        return self._run(tokens, mask, key)[0]

    def inspect(self, tokens: Int[Array, " time"], mask: Bool[Array, " time"]) -> dict[str, Array]:
        """What happened inside; every time axis is that of `tokens`.

        `encoder_attention`, `decoder_attention` and `cross_attention` are [layer, head, time, time], zero where the
        query is not theirs; `states` [layer, time, width] are those of the encoder or the decoder, whose position it
        is.
        """
        return self._run(tokens, mask, None)[1]

    def start(
        self,
        tokens: Int[Array, " time"],
        mask: Bool[Array, " time"] | None = None,
        key: PRNGKeyArray | None = None,
    ) -> Decoding:
        """The state before the first of these tokens, of which all before the first `∅` must be there already.

        What follows the `∅` is not looked at: it may be unknown yet. How long `tokens` is says how many steps there
        can be. The mask is not needed: no padding stands before the `∅`. With a key, dropout is on, in all steps.
        """
        del mask
        k_encoder, k_steps = split_or_none(key, 2)
        begin = self._begin(tokens)
        encoded, _ = self._encode(tokens, jnp.arange(len(tokens)) < begin, k_encoder)
        past = self.decoder.empty_past(len(tokens))
        return Decoding(jnp.zeros((), jnp.int32), begin, self.decoder.remember(encoded), past, k_steps)

    def step(self, state: Decoding, token: Int[Array, ""]) -> tuple[Decoding, Float[Array, " out"]]:
        """One token in, the logits after it out: the same numbers as `__call__`, in time linear in the length.

        The source must be stepped through as well, but it was read by `start`: nothing is done there that lasts. What
        it writes to the place of the `∅` in the past, the `∅` overwrites.
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

    def _run(self, tokens: Array, mask: Array, key: PRNGKeyArray | None) -> tuple[Array, dict[str, Array]]:
        k_encoder, k_embedding, k_decoder = split_or_none(key, 3)
        time, begin = len(tokens), self._begin(tokens)
        source_mask = mask & (jnp.arange(time) < begin)
        encoded, encoder_notes = self._encode(tokens, source_mask, k_encoder)

        # The decoder's tokens are moved to the front, so that the first `∅` stands at 0 whatever the input's length.
        # The source comes round to the back: causality hides it.
        x = self.target_embedding(jnp.roll(tokens, -begin), jnp.arange(time), key=k_embedding)
        x, notes = self.decoder(x, self.decoder.remember(encoded), source_mask, key=k_decoder)

        def placed(of_decoder: Array, otherwise: Array | float, axis: int) -> Array:
            """Back to the places of `tokens` along `axis`, with something else where the encoder's tokens are."""
            is_target = jnp.arange(time) >= begin
            where = jnp.expand_dims(is_target, [i for i in range(of_decoder.ndim) if i != axis])
            return jnp.where(where, jnp.roll(of_decoder, begin, axis), otherwise)

        internals = {
            "encoder_attention": jnp.where(source_mask[:, None], encoder_notes["attention"], 0.0),
            "decoder_attention": placed(jnp.roll(notes["attention"], begin, 3), 0.0, 2),
            "cross_attention": placed(notes["cross_attention"], 0.0, 2),
            "states": placed(notes["states"], encoder_notes["states"], 1),
        }
        return placed(jax.vmap(self.readout)(x), 0.0, 0), internals


@models.register("transformer", version=1)
@dataclass(frozen=True, kw_only=True)
class Transformer:
    """A Transformer encoder and decoder; the answer is fed back symbol by symbol.

    Sizes are those of appendix A.2, the same as the encoder's; what the paper leaves open is as in its released code,
    where the positional encoding acts in all three attentions and the two halves have embeddings of their own.

    Departures from that code, in what the paper describes only by name:

    - `relative` in the attention to the encoder uses the distance of the two places, each counted from its own start,
      as `rope` and `alibi` do there. The code's shift is made for causal attention over equally long sides: here it
      counts from the two ends, and a key further right than that gets a score of the next query's, which has seen the
      symbol that this one is to say.
    - `relative` among the decoder's own tokens uses their distance; the code's is larger by one (a token is at distance
      1 from itself), which `relative_shift="code"` gives.
    - `sin_cos` counts from the start (`sin_cos_from="end"`: the source's from its end, like the code). The code counts
      the answer, too, from its end, which is not known before it is written.
    """

    num_layers: int = 5  # appendix A.2, of each half
    width: int = 64  # appendix A.2, d_model
    num_heads: int = 8  # appendix B.3.2
    feed_forward_size: int = 256  # released code: four times the width
    dropout: float = 0.1  # released code
    positions: Positions = "sin_cos"  # released code; the paper reports the best of the five
    sin_cos_from: Literal["start", "end"] = "start"  # section 5.4 names Vaswani et al., who count from the start
    relative_shift: Literal["paper", "code"] = (
        "paper"  # of the decoder. added later: stays out of the identity at its default
    )

    def __post_init__(self) -> None:
        check_heads(self.width, self.num_heads, self.positions)

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: PRNGKeyArray) -> EncoderDecoderModel:
        """The network, freshly initialised."""
        k_source, k_encoder, k_target, k_decoder, k_readout = jax.random.split(key, 5)
        use_sin_cos = self.positions == "sin_cos"
        sizes = self.num_layers, self.width, self.num_heads, self.feed_forward_size
        return EncoderDecoderModel(
            Embedding(input_size, self.width, use_sin_cos=use_sin_cos, dropout=self.dropout, key=k_source),
            Blocks(*sizes, positions=self.positions, dropout=self.dropout, key=k_encoder),
            Embedding(input_size, self.width, use_sin_cos=use_sin_cos, dropout=self.dropout, key=k_target),
            Decoder(
                *sizes,
                positions=self.positions,
                dropout=self.dropout,
                relative_offset=int(self.relative_shift == "code"),
                key=k_decoder,
            ),
            Linear(self.width, output_size, key=k_readout),
            num_symbols,
            self.sin_cos_from,
        )
