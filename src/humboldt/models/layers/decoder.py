"""The decoder half of a Transformer, all positions at once or one at a time: the same code."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from humboldt.models.layers.attention import Attention, KeysValues
from humboldt.models.layers.blocks import BlockOptions, make_layers, over_layers, repeated
from humboldt.models.layers.dropout import split_or_none
from humboldt.models.layers.feed_forward import FeedForward
from humboldt.models.layers.normalisation import AddNorm


class DecoderBlock(eqx.Module):
    """Causal attention among the decoder's tokens, attention to the encoder's, then the feed-forward layer."""

    attention: Attention
    after_attention: AddNorm
    cross: Attention
    after_cross: AddNorm
    feed_forward: FeedForward
    after_feed_forward: AddNorm

    def __init__(self, options: BlockOptions, *, relative_offset: int = 0, key: PRNGKeyArray) -> None:
        k_attention, k_cross, k_feed_forward = jax.random.split(key, 3)
        self.attention = options.attention(relative_offset=relative_offset, key=k_attention)
        self.after_attention = options.add_norm()
        self.cross = options.attention(is_cross=True, key=k_cross)
        self.after_cross = options.add_norm()
        self.feed_forward = options.feed_forward(key=k_feed_forward)
        self.after_feed_forward = options.add_norm()

    def __call__(
        self,
        x: Float[Array, "new width"],
        source: KeysValues,
        source_mask: Bool[Array, " source"],
        past: KeysValues | None,
        *,
        first: int | Int[Array, ""] = 0,
        key: PRNGKeyArray | None = None,
    ) -> tuple[Float[Array, "new width"], dict[str, Any]]:
        """Returns the tokens at `first, first + 1, ...` after the block; see `Decoder`."""
        k_attention, k_cross, k_feed_forward = split_or_none(key, 3)
        # Separate keys, so that networks without dropout inside layers get the same keys as before.
        k_weights, k_cross_weights, k_inner = split_or_none(None if key is None else jax.random.fold_in(key, 1), 3)
        asking = self.after_attention.enter(x)
        past = written(past, self.attention.remember(asking, first=first), first)
        num_positions = len(past.keys)
        places = first + jnp.arange(len(x))
        visible = places[:, None] >= jnp.arange(num_positions)[None, :]
        attended, attention = self.attention(
            asking, past, visible, first=first, num_positions=num_positions, key=k_weights
        )
        x = self.after_attention(x, attended, key=k_attention)

        visible = jnp.broadcast_to(source_mask[None, :], (len(x), len(source_mask)))
        attended, cross = self.cross(
            self.after_cross.enter(x), source, visible, first=first, num_positions=num_positions, key=k_cross_weights
        )
        x = self.after_cross(x, attended, key=k_cross)

        y = self.feed_forward(self.after_feed_forward.enter(x), key=k_inner)
        x = self.after_feed_forward(x, y, key=k_feed_forward)
        return x, {"attention": attention, "cross_attention": cross, "states": x, "past": past}


def written(past: KeysValues | None, new: KeysValues, first: int | Array) -> KeysValues:
    """Returns the past with new tokens at `first, first + 1, ...`."""
    if past is None:
        return new
    return KeysValues(
        *(jax.lax.dynamic_update_slice_in_dim(old, x, first, 0) for old, x in zip(past, new, strict=True))
    )


class Decoder(eqx.Module):
    """Several decoder blocks, one after the other; each weight has a leading axis of layers.

    The positional encoding acts in both attentions, as in the released code of Delétang et al. (2023): the decoder's
    first token and the source's first token are both at position 0. `relative_offset` is added to the distances of
    `relative` in the attention among the decoder's own tokens.
    """

    blocks: DecoderBlock
    times: int = eqx.field(static=True)  # how often one block is applied; see `Blocks`

    def __init__(
        self,
        num_layers: int,
        options: BlockOptions,
        *,
        shared: bool = False,
        relative_offset: int = 0,
        key: PRNGKeyArray,
    ) -> None:
        self.blocks = make_layers(
            lambda key: DecoderBlock(options, relative_offset=relative_offset, key=key),
            1 if shared else num_layers,
            key=key,
        )
        self.times = num_layers if shared else 1

    def _layers(self) -> DecoderBlock:
        return repeated(self.blocks, self.times)

    def remember(self, encoded: Float[Array, "source width"]) -> KeysValues:
        """Returns the keys and values of the source for every layer. They are computed once, not at every step."""
        return eqx.filter_vmap(lambda block: block.cross.remember(encoded))(self._layers())

    def empty_past(self, num_positions: int) -> KeysValues:
        """Returns room for the keys and values of `num_positions` tokens, in every layer."""
        attention = self.blocks.attention
        num_layers, width, _ = attention.key.weight.shape
        zeros = jnp.zeros((num_layers * self.times, num_positions, attention.num_heads, width // attention.num_heads))
        return KeysValues(zeros, zeros)

    def __call__(
        self,
        x: Float[Array, "new width"],
        source: KeysValues,
        source_mask: Bool[Array, " source"],
        past: KeysValues | None = None,
        *,
        first: int | Int[Array, ""] = 0,
        key: PRNGKeyArray | None = None,
    ) -> tuple[Float[Array, "new width"], dict[str, Any]]:
        """Applies all blocks to tokens at positions `first, first + 1, ...`.

        **Arguments:**

        - `source`, `source_mask`: from `remember`, and which of its tokens are real.
        - `past`: keys and values of the tokens before `first`, with room for these and all later tokens. Without it
          there are no other tokens.

        **Returns:** the tokens after the last block; and of every layer the `attention` and `cross_attention` matrices,
        the `states` after it, and the new `past`.
        """

        def apply(block: Any, x: Array, remembered: Any, key: PRNGKeyArray | None) -> tuple[Array, dict[str, Any]]:
            source, past = remembered
            return block(x, source, source_mask, past, first=first, key=key)

        return over_layers(self._layers(), apply, x, (source, past), key=key)
