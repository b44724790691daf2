"""Mamba (Gu and Dao 2023): a diagonal state space whose step, input and output depend on the token."""

import functools
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from humboldt.models.layers.linear import Linear
from humboldt.models.mixers.base import AbstractMixer
from humboldt.models.mixers.diagonal import Form, default_form, states
from humboldt.models.mixers.fast_weights import Eigenvalues
from humboldt.models.mixers.parts import linear, step_sizes, with_bias
from humboldt.models.mixers.short_convolution import Recent, ShortConvolution


class MambaState(NamedTuple):
    """The inputs that the convolution still needs, and the state space."""

    recent: Recent
    hidden: Float[Array, "inner state"]


class Mamba(AbstractMixer):
    """`h <- s ⊙ h + Δ x Bᵀ`, `y = h C + D ⊙ x`, with `s = exp(-Δ rateᵀ)` or, for eigenvalues in [-1, 1], `2s - 1`.

    Sizes, biases and initialisation are those of mamba's `mamba_simple.py`; the range [-1, 1] is that of Grazzi et al.
    (2025), who leave everything else as it is.
    """

    input: Linear  # the sequence, and the gate of the output
    convolution: ShortConvolution
    select: Linear  # step, B, C
    step_size: Linear
    log_rate: Float[Array, "inner state"]
    skip: Float[Array, " inner"]
    output: Linear
    eigenvalues: Eigenvalues = eqx.field(static=True)
    form: Form | None = eqx.field(static=True)

    def __init__(
        self,
        width: int,
        *,
        eigenvalues: Eigenvalues = "0_1",
        state_size: int = 16,
        expansion: int = 2,
        convolution: int = 4,
        form: Form | None = None,
        key: PRNGKeyArray,
    ) -> None:
        k_input, k_convolution, k_select, k_step, k_bias, k_output = jax.random.split(key, 6)
        inner, rank = expansion * width, -(-width // 16)
        self.input = linear(width, 2 * inner, key=k_input)
        self.convolution = ShortConvolution(inner, size=convolution, use_bias=True, key=k_convolution)
        self.select = linear(inner, rank + 2 * state_size, key=k_select)
        self.step_size = with_bias(linear(rank, inner, use_bias=True, key=k_step), step_sizes(k_bias, (inner,)))
        self.log_rate = jnp.log(jnp.tile(jnp.arange(1.0, state_size + 1)[None], (inner, 1)))
        self.skip = jnp.ones(inner)
        self.output = linear(inner, width, key=k_output)
        self.eigenvalues = eigenvalues
        self.form = form

    def __call__(self, xs: Float[Array, "time width"], mask: Bool[Array, " time"]) -> Float[Array, "time width"]:
        us, gates = jnp.split(jax.vmap(self.input)(xs), 2, axis=-1)
        us = self.convolution(us, mask)
        form = default_form() if self.form is None else self.form
        if form == "associative":
            decays, drives, readings = jax.vmap(self.selected)(us)
            ys = jnp.einsum("tis,ts->ti", states(decays, drives, form=form), readings)
        else:
            ys = self._in_a_loop(us)
        return jax.vmap(self._output)(us, gates, ys)

    def start(self) -> MambaState:
        return MambaState(self.convolution.start(), jnp.zeros(self.log_rate.shape))

    def step(self, state: MambaState, x: Float[Array, " width"]) -> tuple[MambaState, Float[Array, " width"]]:
        u, gate = jnp.split(self.input(x), 2)
        recent, u = self.convolution.step(state.recent, u)
        decay, drive, reading = self.selected(u)
        hidden = decay * state.hidden + drive
        return MambaState(recent, hidden), self._output(u, gate, hidden @ reading)

    def selected(
        self, u: Float[Array, " inner"]
    ) -> tuple[Float[Array, "inner state"], Float[Array, "inner state"], Float[Array, " state"]]:
        """Returns the decay of the state, the input that is added to it, and how it is read."""
        step, writing, reading = self._steps(u)
        decay = self._decay(step[:, None], jnp.exp(self.log_rate))
        return decay, (step * u)[:, None] * writing[None, :], reading

    def _steps(self, u: Float[Array, " inner"]) -> tuple[Float[Array, " inner"], Array, Array]:
        """Returns the sizes of the step, how the state is written and how it is read."""
        rank, state_size = len(self.step_size.weight), self.log_rate.shape[1]
        step, writing, reading = jnp.split(self.select(u), [rank, rank + state_size])
        return jax.nn.softplus(self.step_size(step)), writing, reading

    def _decay(self, step: Array, rate: Array) -> Array:
        decay = jnp.exp(-step * rate)
        return 2 * decay - 1 if self.eigenvalues == "-1_1" else decay

    def _in_a_loop(self, us: Float[Array, "time inner"]) -> Float[Array, "time inner"]:
        """Returns the readings of the state after every step.

        Decays and drives are computed within the loop, and again in the backward pass: of the arrays with a number for
        every token, feature and state, only the states are stored. Features are the last axis, which sums over states
        need to be vectorised.
        """
        # Processor time of the layer's gradient for 32 sequences, width 43, two busy cores, lengths 20 and 80, in ms:
        # 25, 101 with decays and drives stored; 4, 22 in this form. Sums over features, which gradients have, are
        # quicker as products: 53 instead of 63 ms for 160 sequences of length 40.
        steps, writings, readings = jax.vmap(self._steps)(us)
        rate = jnp.exp(self.log_rate).T

        @functools.partial(jax.checkpoint, prevent_cse=False)
        def step(hidden: Array, token: tuple[Array, ...]) -> tuple[Array, Array]:
            size, drive, writing, reading = token
            hidden = self._decay(size[None], rate) * hidden + jnp.einsum("s,i->si", writing, drive)
            return hidden, jnp.einsum("si,s->i", hidden, reading)

        return jax.lax.scan(step, jnp.zeros_like(rate), (steps, steps * us, writings, readings))[1]

    def _output(self, u: Array, gate: Array, y: Float[Array, " inner"]) -> Float[Array, " width"]:
        return self.output((y + self.skip * u) * jax.nn.silu(gate))
