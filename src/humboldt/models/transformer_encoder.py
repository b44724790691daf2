"""The Transformer encoder of Delétang et al. (2023)."""

from dataclasses import dataclass
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from humboldt.models import models
from humboldt.models._attention import Blocks, check_heads, split_or_none
from humboldt.models._embedding import Embedding
from humboldt.models._linear import Linear
from humboldt.models._positions import Positions


def count_places(time: int, length: Int[Array, ""], count_from: Literal["start", "end"]) -> Int[Array, " time"]:
    """The positions that sinusoids tell: 0, 1, 2, ... or, from the end of `length` tokens, ..., 3, 2, 1."""
    return jnp.arange(time) if count_from == "start" else length.astype(jnp.int32) - jnp.arange(time)


class EncoderModel(eqx.Module):
    """Embedding, blocks in which every token sees every other, and a linear readout at every position."""

    embedding: Embedding
    blocks: Blocks
    readout: Linear
    count_from: Literal["start", "end"] = eqx.field(static=True)

    def __call__(
        self, tokens: Int[Array, " time"], mask: Bool[Array, " time"], *, key: PRNGKeyArray | None = None
    ) -> Float[Array, "time out"]:
        """Logits at every position; those of the `∅` are the answer. With a key, dropout is on."""
        return self._run(tokens, mask, key)[0]

    def inspect(self, tokens: Int[Array, " time"], mask: Bool[Array, " time"]) -> dict[str, Array]:
        """What happened inside: `attention` [layer, head, time, time] and `states` [layer, time, width]."""
        return self._run(tokens, mask, None)[1]

    def _run(self, tokens: Array, mask: Array, key: PRNGKeyArray | None) -> tuple[Array, dict[str, Array]]:
        k_embedding, k_blocks = split_or_none(key, 2)
        places = count_places(len(tokens), mask.sum(), self.count_from)
        x, internals = self.blocks(self.embedding(tokens, places, key=k_embedding), mask, key=k_blocks)
        return jax.vmap(self.readout)(x), internals


@models.register("transformer_encoder", version=1)
@dataclass(frozen=True, kw_only=True)
class TransformerEncoder:
    """A Transformer encoder that answers at the `∅` it is given, without feeding anything back.

    Sizes are those of appendix A.2; what the paper leaves open is as in its released code. One departure: there the
    sinusoids count down to the end of the input instead of up from its start; `sin_cos_from="end"` does that.
    """

    num_layers: int = 5  # appendix A.2; B.8 has up to 25
    width: int = 64  # appendix A.2, d_model
    num_heads: int = 8  # appendix B.3.2
    feed_forward_size: int = 256  # released code: four times the width
    dropout: float = 0.1  # released code
    positions: Positions = "sin_cos"  # released code; the paper reports the best of the five
    sin_cos_from: Literal["start", "end"] = "start"  # section 5.4 names Vaswani et al., who count from the start

    def __post_init__(self) -> None:
        check_heads(self.width, self.num_heads, self.positions)

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: PRNGKeyArray) -> EncoderModel:
        """The network, freshly initialised."""
        del num_symbols  # to an encoder a mark is a token like any other
        k_embedding, k_blocks, k_readout = jax.random.split(key, 3)
        use_sin_cos = self.positions == "sin_cos"
        return EncoderModel(
            Embedding(input_size, self.width, use_sin_cos=use_sin_cos, dropout=self.dropout, key=k_embedding),
            Blocks(
                self.num_layers,
                self.width,
                self.num_heads,
                self.feed_forward_size,
                positions=self.positions,
                dropout=self.dropout,
                key=k_blocks,
            ),
            Linear(self.width, output_size, key=k_readout),
            self.sin_cos_from,
        )
