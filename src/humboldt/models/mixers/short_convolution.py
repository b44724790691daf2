"""The short causal convolution that comes before most recurrent layers since H3 and Mamba."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from humboldt.models.mixers.base import AbstractMixer

Recent = Float[Array, "before width"]
"""The last inputs, oldest first, one fewer than the convolution has taps."""


class ShortConvolution(AbstractMixer):
    """`y_t = silu(Σ_i weight_i ⊙ x_(t - size + 1 + i) + bias)`: every feature by itself.

    Weights are drawn as PyTorch's `Conv1d` draws them, which `ShortConvolution` of flash-linear-attention, mamba and
    xlstm all use: uniform within ± `size ** -0.5`. mamba and xlstm have a bias, flash-linear-attention has none.
    `use_silu` is off where the layer after it has an activation of its own.
    """

    weight: Float[Array, "size width"]  # the last row is multiplied by the current input
    bias: Float[Array, " width"] | None
    use_silu: bool = eqx.field(static=True)

    def __init__(
        self, width: int, *, size: int = 4, use_bias: bool = False, use_silu: bool = True, key: PRNGKeyArray
    ) -> None:
        k_weight, k_bias = jax.random.split(key)
        bound = size**-0.5
        self.weight = jax.random.uniform(k_weight, (size, width), minval=-bound, maxval=bound)
        self.bias = jax.random.uniform(k_bias, (width,), minval=-bound, maxval=bound) if use_bias else None
        self.use_silu = use_silu

    def __call__(self, xs: Float[Array, "time width"], mask: Bool[Array, " time"]) -> Float[Array, "time width"]:
        del mask
        num_steps, size = len(xs), len(self.weight)
        padded = jnp.concatenate([jnp.zeros((size - 1, xs.shape[1]), xs.dtype), xs])
        # A sum of shifted products: XLA fuses it, where its depthwise convolution is slow on a CPU.
        shifted = (self.weight[i][None, :] * padded[i : i + num_steps] for i in range(size))
        return jax.vmap(self._activate)(sum(shifted, start=jnp.zeros_like(xs)))

    def start(self) -> Recent:
        return jnp.zeros((len(self.weight) - 1, self.weight.shape[1]), self.weight.dtype)

    def step(self, state: Recent, x: Float[Array, " width"]) -> tuple[Recent, Float[Array, " width"]]:
        window = jnp.concatenate([state, x[None]])
        return window[1:], self._activate((self.weight * window).sum(0))

    def _activate(self, y: Float[Array, " width"]) -> Float[Array, " width"]:
        y = y if self.bias is None else y + self.bias
        return jax.nn.silu(y) if self.use_silu else y
