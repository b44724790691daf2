"""Small parts that several mixers are made of."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from humboldt.models.layers.linear import Linear, uniform_like


def linear(
    in_size: int, out_size: int, *, spread: float | None = None, use_bias: bool = False, key: PRNGKeyArray
) -> Linear:
    """Builds a linear layer as the released layers do.

    Without a `spread`, weight and bias are PyTorch's: uniform within ± `in_size ** -0.5`. With one, the weight is
    normal with this standard deviation and the bias zero: the whole models of flash-linear-attention re-initialise
    their layers so, with `initializer_range = 0.02`.
    """
    layer = Linear(in_size, out_size, use_bias=use_bias, key=key)
    if spread is None:
        bound = in_size**-0.5
        return uniform_like(layer, bound, bias_bound=bound, key=key)
    return with_weight(layer, spread * jax.random.normal(key, layer.weight.shape))


def with_weight(layer: Linear, weight: Float[Array, "in out"]) -> Linear:
    """Returns the same layer with another weight."""
    return eqx.tree_at(lambda layer: layer.weight, layer, weight)


def with_bias(layer: Linear, bias: Float[Array, " out"] | np.ndarray) -> Linear:
    """Returns the same layer with another bias."""
    return eqx.tree_at(lambda layer: layer.bias, layer, jnp.asarray(bias, layer.weight.dtype))


def small_normal(dim: int) -> float:
    """Returns the standard deviation of xlstm's `small_init_init_` (Nguyen and Salazar 2019)."""
    return math.sqrt(2 / (5 * dim))


def orthogonal(key: PRNGKeyArray, shape: tuple[int, int], gain: float) -> Float[Array, "in out"]:
    """Returns `gain` times a random matrix whose rows or columns, whichever are fewer, are orthonormal.

    Uses Gram and Schmidt's method, twice to reduce rounding errors, so that an ensemble needs no call of LAPACK.
    """
    rows = jax.random.normal(key, (min(shape), max(shape)))

    def add(i: Array, basis: Array) -> Array:
        row = rows[i]
        for _ in range(2):
            row = row - (basis @ row) @ basis
        return basis.at[i].set(row * jax.lax.rsqrt((row * row).sum()))

    basis = gain * jax.lax.fori_loop(0, len(rows), add, jnp.zeros_like(rows))
    return basis if shape[0] <= shape[1] else basis.T


def step_sizes(key: PRNGKeyArray, shape: tuple[int, ...], least: float = 1e-3, most: float = 1e-1) -> Array:
    """Draws biases whose softplus is log-uniform between `least` and `most`.

    mamba and flash-linear-attention initialise step sizes so (`dt_min`, `dt_max`, `dt_init_floor` of 1e-4, which
    changes nothing at the default `least`).
    """
    spread = math.log(most) - math.log(least)
    sizes = jnp.exp(jax.random.uniform(key, shape) * spread + math.log(least))
    return sizes + jnp.log(-jnp.expm1(-sizes))


def to_unit_length(x: Float[Array, "*any size"]) -> Float[Array, "*any size"]:
    """Scales vectors to length 1, with the epsilon of flash-linear-attention's `l2norm`; a zero vector stays zero."""
    return x * jax.lax.rsqrt((x * x).sum(-1, keepdims=True) + 1e-6)


class BlockLinear(eqx.Module):
    """A linear layer without bias whose matrix has blocks on its diagonal: every block of features by itself.

    xlstm's `LinearHeadwiseExpand`, which it initialises as normal with `small_normal` of the width of `dim`.
    """

    weight: Float[Array, "blocks in out"]

    def __init__(self, width: int, blocks: int, *, dim: int, key: PRNGKeyArray) -> None:
        size = width // blocks
        self.weight = small_normal(dim) * jax.random.normal(key, (blocks, size, size))

    def __call__(self, x: Float[Array, " width"]) -> Float[Array, " width"]:
        return jnp.einsum("bi,bio->bo", x.reshape(len(self.weight), -1), self.weight).reshape(-1)


class HeadNorm(eqx.Module):
    """Normalises every head by itself: by its root mean square or, if `centred`, by mean and standard deviation.

    With `shared`, all heads have one weight (RMSNorm of flash-linear-attention's layers); otherwise every feature has
    its own (group normalisation of xlstm and RWKV-7).
    """

    weight: Float[Array, "heads_or_one size"]
    bias: Float[Array, "heads_or_one size"] | None
    centred: bool = eqx.field(static=True)
    epsilon: float = eqx.field(static=True)

    def __init__(
        self, heads: int, size: int, *, shared: bool, centred: bool, use_bias: bool = False, epsilon: float = 1e-5
    ) -> None:
        shape = (1 if shared else heads, size)
        self.weight = jnp.ones(shape)
        self.bias = jnp.zeros(shape) if use_bias else None
        self.centred = centred
        self.epsilon = epsilon

    def __call__(self, x: Float[Array, "heads size"]) -> Float[Array, "heads size"]:
        x = x - x.mean(-1, keepdims=True) if self.centred else x
        y = x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + self.epsilon) * self.weight
        return y if self.bias is None else y + self.bias
