"""Several blocks, one after the other: the part of a network between its embedding and its readout."""

from collections.abc import Sequence
from typing import Any

import jax
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from humboldt.errors import UsageError
from humboldt.models.mixers.base import AbstractMixer
from humboldt.models.mixers.block import FeedForwardName, MixerBlock, Norm, NormName
from humboldt.models.mixers.named import Place, named_mixer


class Backbone(AbstractMixer):
    """Maps embedded tokens to vectors, by blocks and a last norm. It is a mixer itself."""

    blocks: tuple[MixerBlock, ...]
    norm: Norm

    def __call__(self, xs: Float[Array, "time width"], mask: Bool[Array, " time"]) -> Float[Array, "time width"]:
        first = None
        for block in self.blocks:
            xs, first = block(xs, mask, first)
        return jax.vmap(self.norm)(xs)

    def start(self) -> tuple[Any, ...]:
        return tuple(block.start() for block in self.blocks)

    def step(self, state: tuple[Any, ...], x: Float[Array, " width"]) -> tuple[tuple[Any, ...], Float[Array, " width"]]:
        first, after = None, []
        for block, before in zip(self.blocks, state, strict=True):
            new, x, first = block.step(before, x, first)
            after.append(new)
        return tuple(after), self.norm(x)


def backbone(
    mixers: str | Sequence[str],
    *,
    width: int,
    layers: int,
    heads: int,
    norm: NormName | None = None,
    feed_forward: FeedForwardName | None = None,
    feed_forward_size: int | None = None,
    key: PRNGKeyArray,
    **options: Any,
) -> Backbone:
    """Builds a backbone of named mixers.

    Several names take turns, e.g. `("mlstm", "slstm")` for xLSTM[1:1]. Norm and feed-forward layer are those that the
    first mixer's authors use, unless given; `options` go to every mixer.
    """
    names = [mixers] if isinstance(mixers, str) else list(mixers)
    if not names or layers < 1:
        raise UsageError(f"A backbone needs a mixer and a layer, but there are {names} and layers={layers}. Add one.")
    blocks = []
    for layer in range(layers):
        named = named_mixer(names[layer % len(names)])
        k_mixer, k_block = jax.random.split(jax.random.fold_in(key, layer))
        block = MixerBlock(
            named.make(Place(width, heads, layer, layers), key=k_mixer, **options),
            width,
            norm=named.norm if norm is None else norm,
            feed_forward=named.feed_forward if feed_forward is None else feed_forward,
            feed_forward_size=feed_forward_size,
            layers=layers,
            key=k_block,
        )
        blocks.append(block)
    return Backbone(tuple(blocks), Norm(width, named_mixer(names[0]).norm if norm is None else norm))
