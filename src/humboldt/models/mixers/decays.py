"""Decays of a matrix state: logarithms of factors between 0 and 1, per head or per key feature."""

import math
from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from humboldt.models.layers.linear import Linear
from humboldt.models.mixers.matrix_state import Decay
from humboldt.models.mixers.parts import linear, step_sizes


class AbstractDecay(eqx.Module):
    """Maps a vector to the logarithms of the factors by which the rows of each head's state are multiplied."""

    @abstractmethod
    def __call__(self, x: Float[Array, " width"]) -> Decay:
        """Returns the log decays, at most zero."""


class FixedDecay(AbstractDecay):
    """`1 - 2^(-5 - head)` for every token (RetNet, Sun et al. 2023). With `none`, nothing decays."""

    heads: int = eqx.field(static=True)
    none: bool = eqx.field(static=True, default=False)

    def __call__(self, x: Float[Array, " width"]) -> Decay:
        logs = np.zeros(self.heads) if self.none else np.log1p(-(2.0 ** (-5 - np.arange(self.heads))))
        return jnp.asarray(logs, x.dtype)[:, None]


class ScalarDecay(AbstractDecay):
    """`exp(-rate softplus(w x + bias))`, one number per head, as Mamba-2 and Gated DeltaNet have it.

    Initial rates are uniform in `rates`: (1, 16) in mamba's `mamba2.py`, (0, 16) in flash-linear-attention's
    `gated_deltanet.py`.
    """

    input: Linear
    bias: Float[Array, " heads"]
    log_rate: Float[Array, " heads"]

    def __init__(
        self,
        width: int,
        heads: int,
        *,
        rates: tuple[float, float] = (0.0, 16.0),
        spread: float | None = None,
        key: PRNGKeyArray,
    ) -> None:
        k_input, k_bias, k_rate = jax.random.split(key, 3)
        self.input = linear(width, heads, spread=spread, key=k_input)
        self.bias = step_sizes(k_bias, (heads,))
        # A rate of exactly zero has no logarithm.
        self.log_rate = jnp.log(jax.random.uniform(k_rate, (heads,), minval=max(rates[0], 1e-4), maxval=rates[1]))

    def __call__(self, x: Float[Array, " width"]) -> Decay:
        return (-jnp.exp(self.log_rate) * self.step_size(x))[:, None]

    def step_size(self, x: Float[Array, " width"]) -> Float[Array, " heads"]:
        """Returns the size of the step that the decay is taken over."""
        return jax.nn.softplus(self.input(x) + self.bias)


class VectorDecay(AbstractDecay):
    """`(least + (1 - least) σ(W x)) ^ (1 / divisor)`, one number per key feature.

    GLA has a `W` of low `rank` with a bias, and a divisor of 16, so that it forgets slowly at first
    (flash-linear-attention `gla.py`: `gate_low_rank_dim`, `gate_logit_normalizer`). HGRN2 has a full `W` without bias
    and, above the first layer, a learnt least decay; here the least decay is a constant.
    """

    inputs: tuple[Linear, ...]
    heads: int = eqx.field(static=True)
    divisor: float = eqx.field(static=True)
    least: float = eqx.field(static=True)

    def __init__(
        self,
        width: int,
        heads: int,
        head_size: int,
        *,
        rank: int | None,
        divisor: float,
        least: float,
        spread: float | None = None,
        key: PRNGKeyArray,
    ) -> None:
        k_down, k_up = jax.random.split(key)
        if rank is None:
            self.inputs = (linear(width, heads * head_size, spread=spread, key=k_down),)
        else:
            up = linear(rank, heads * head_size, spread=spread, use_bias=True, key=k_up)
            self.inputs = (linear(width, rank, spread=spread, key=k_down), up)
        self.heads = heads
        self.divisor = divisor
        self.least = least

    def __call__(self, x: Float[Array, " width"]) -> Decay:
        for layer in self.inputs:
            x = layer(x)
        logs = jax.nn.log_sigmoid(x)
        if self.least > 0:
            logs = jnp.logaddexp(math.log(self.least), math.log1p(-self.least) + logs)
        return (logs / self.divisor).reshape(self.heads, -1)
