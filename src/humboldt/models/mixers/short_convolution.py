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
        return jax.vmap(self._activate)(_convolved(self.weight, xs))

    def start(self) -> Recent:
        return jnp.zeros((len(self.weight) - 1, self.weight.shape[1]), self.weight.dtype)

    def step(self, state: Recent, x: Float[Array, " width"]) -> tuple[Recent, Float[Array, " width"]]:
        window = jnp.concatenate([state, x[None]])
        return window[1:], self._activate((self.weight * window).sum(0))

    def _activate(self, y: Float[Array, " width"]) -> Float[Array, " width"]:
        y = y if self.bias is None else y + self.bias
        return jax.nn.silu(y) if self.use_silu else y


@jax.custom_vjp
def _convolved(weight: Float[Array, "size width"], xs: Float[Array, "time width"]) -> Float[Array, "time width"]:
    """Returns the sums of products of the weights and the last inputs, at every step."""
    num_steps, size = len(xs), len(weight)
    padded = jnp.pad(xs, [(size - 1, 0), (0, 0)])
    # A sum of shifted products: XLA fuses it, where its depthwise convolution is slow on a CPU.
    return sum((weight[i][None] * padded[i : i + num_steps] for i in range(size)), start=jnp.zeros_like(xs))


def _forward(weight: Array, xs: Array) -> tuple[Array, tuple[Array, Array]]:
    return _convolved(weight, xs), (weight, xs)


def _backward(kept: tuple[Array, Array], gradient: Array) -> tuple[Array, Array]:
    """Returns the gradients of weights and inputs.

    The sums over time for the weights are slow on a CPU where XLA fuses them with the products, so that they are made
    in a loop there. Processor time of the gradient of this layer behind a linear one, 160 sequences of length 40,
    196 features, two busy cores: 26 ms by JAX's own gradient, 8 ms so; 6 ms without a convolution.
    """
    weight, xs = kept
    num_steps, size = len(xs), len(weight)
    later = jnp.pad(gradient, [(0, size - 1), (0, 0)])
    of_inputs = sum(
        (weight[size - 1 - i][None] * later[i : i + num_steps] for i in range(size)), start=jnp.zeros_like(xs)
    )
    padded = jnp.pad(xs, [(size - 1, 0), (0, 0)])
    if jax.default_backend() != "cpu":
        return jnp.stack([(gradient * padded[i : i + num_steps]).sum(0) for i in range(size)]), of_inputs

    def add(t: Array, total: Array) -> Array:
        return total + gradient[t][None] * jax.lax.dynamic_slice_in_dim(padded, t, size)

    return jax.lax.fori_loop(0, num_steps, add, jnp.zeros_like(weight)), of_inputs


_convolved.defvjp(_forward, _backward)
