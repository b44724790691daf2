"""One residual block around any mixer."""

from typing import Any, Literal

import equinox as eqx
import jax
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from humboldt.models.layers.linear import Linear
from humboldt.models.mixers.base import AbstractMixer, AbstractValueMixer
from humboldt.models.mixers.parts import HeadNorm, linear, small_normal

NormName = Literal["rms", "layer"]
"""By the root mean square (flash-linear-attention, mamba), or by mean and deviation (xlstm, RWKV-7, S4)."""

FeedForwardName = Literal["none", "gated", "gated_gelu", "plain"]
"""Nothing where the mixer widens by itself (mamba, mLSTM); `down(silu(gate x) ⊙ up x)`, also with gelu (xlstm);
`down(gelu(up x))`."""


class Norm(eqx.Module):
    """Normalises a vector, with a weight and, for `layer`, without a bias, as xlstm does."""

    norm: HeadNorm

    def __init__(self, width: int, name: NormName, *, epsilon: float = 1e-5) -> None:
        self.norm = HeadNorm(1, width, shared=True, centred=name == "layer", epsilon=epsilon)

    def __call__(self, x: Float[Array, " width"]) -> Float[Array, " width"]:
        return self.norm(x[None])[0]


class FeedForward(eqx.Module):
    """Two or three linear layers at every position, without biases.

    Initial weights are PyTorch's. Those of `gated_gelu` are normal numbers, as in xlstm's `feedforward.py`, which
    depend on the number of blocks, `layers`.
    """

    up: Linear
    gate: Linear | None
    down: Linear
    gelu: bool = eqx.field(static=True)

    def __init__(self, width: int, size: int, name: FeedForwardName, *, layers: int = 1, key: PRNGKeyArray) -> None:
        k_up, k_gate, k_down = jax.random.split(key, 3)
        wide = small_normal(width) if name == "gated_gelu" else None
        narrow = 2 / layers / width**0.5 if name == "gated_gelu" else None
        self.up = linear(width, size, spread=wide, key=k_up)
        self.gate = None if name == "plain" else linear(width, size, spread=wide, key=k_gate)
        self.down = linear(size, width, spread=narrow, key=k_down)
        self.gelu = name != "gated"

    def __call__(self, x: Float[Array, " width"]) -> Float[Array, " width"]:
        if self.gate is None:
            return self.down(self._activate(self.up(x)))
        return self.down(self._activate(self.gate(x)) * self.up(x))

    def _activate(self, x: Float[Array, " size"]) -> Float[Array, " size"]:
        return jax.nn.gelu(x, approximate=False) if self.gelu else jax.nn.silu(x)


def feed_forward_units(width: int, name: FeedForwardName) -> int:
    """Returns the units of a feed-forward layer if no number is given.

    `gated` has as many weights as two layers of four times the width. `gated_gelu` has 1.3 times the width, which xlstm
    rounds up to a multiple of 64.
    """
    return {"none": 0, "plain": 4 * width, "gated": 8 * width // 3, "gated_gelu": -(-13 * width // 10)}[name]


class MixerBlock(eqx.Module):
    """`x + mixer(norm(x))`, then `x + feed_forward(norm(x))` where there is one.

    Values of the first layer are handed from block to block (see `AbstractValueMixer`).
    """

    norm: Norm
    mixer: AbstractMixer
    feed_forward_norm: Norm | None
    feed_forward: FeedForward | None

    def __init__(
        self,
        mixer: AbstractMixer,
        width: int,
        *,
        norm: NormName = "rms",
        feed_forward: FeedForwardName = "gated",
        feed_forward_size: int | None = None,
        layers: int = 1,
        key: PRNGKeyArray,
    ) -> None:
        self.norm = Norm(width, norm)
        self.mixer = mixer
        self.feed_forward_norm = self.feed_forward = None
        if feed_forward != "none":
            size = feed_forward_units(width, feed_forward) if feed_forward_size is None else feed_forward_size
            self.feed_forward_norm = Norm(width, norm)
            self.feed_forward = FeedForward(width, size, feed_forward, layers=layers, key=key)

    def __call__(
        self,
        xs: Float[Array, "time width"],
        mask: Bool[Array, " time"],
        first: Float[Array, "time width"] | None = None,
    ) -> tuple[Float[Array, "time width"], Float[Array, "time width"] | None]:
        """Reads all vectors at once; returns the vectors after the block, and the values of the first layer."""
        normed = jax.vmap(self.norm)(xs)
        if isinstance(self.mixer, AbstractValueMixer):
            ys, values = self.mixer.mix(normed, mask, first)
            first = values if first is None else first
        else:
            ys = self.mixer(normed, mask)
        return jax.vmap(self._feed_forward)(xs + ys), first

    def start(self) -> Any:
        """Returns the state before the first vector."""
        return self.mixer.start()

    def step(
        self, state: Any, x: Float[Array, " width"], first: Float[Array, " width"] | None = None
    ) -> tuple[Any, Float[Array, " width"], Float[Array, " width"] | None]:
        """Reads one vector; returns the next state, the vector after the block, and the values of the first layer."""
        normed = self.norm(x)
        if isinstance(self.mixer, AbstractValueMixer):
            state, y, values = self.mixer.mix_step(state, normed, first)
            first = values if first is None else first
        else:
            state, y = self.mixer.step(state, normed)
        return state, self._feed_forward(x + y), first

    def _feed_forward(self, x: Float[Array, " width"]) -> Float[Array, " width"]:
        if self.feed_forward is None or self.feed_forward_norm is None:
            return x
        return x + self.feed_forward(self.feed_forward_norm(x))
