"""The linear recurrent unit (Orvieto et al. 2023): a complex diagonal recurrence within the unit circle."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Complex, Float, PRNGKeyArray

from humboldt.models.layers.linear import Linear
from humboldt.models.mixers.base import AbstractMixer
from humboldt.models.mixers.diagonal import states
from humboldt.models.mixers.parts import linear


class LRU(AbstractMixer):
    """`h <- λ ⊙ h + γ ⊙ B x` with `λ = exp(-exp(ν) + i exp(θ))`, `y = Re(C h) + D ⊙ x`, then GELU and a gated layer.

    Parameters and initialisation follow NicolasZucchet/minimal-LRU: |λ| uniform in the ring from `least` to `most`,
    phases up to `phase`, and the gate of its `SequenceLayer` after the recurrence.
    """

    log_rate: Float[Array, " state"]  # ν
    log_phase: Float[Array, " state"]  # θ
    log_scale: Float[Array, " state"]  # γ
    writing: Linear  # B, real parts then imaginary ones
    reading: Linear  # C, as a map from real parts and negative imaginary ones
    skip: Float[Array, " width"]
    output: Linear

    def __init__(
        self,
        width: int,
        *,
        state_size: int | None = None,
        least: float = 0.0,
        most: float = 1.0,
        phase: float = 6.28,
        key: PRNGKeyArray,
    ) -> None:
        state_size = width if state_size is None else state_size
        k_rate, k_phase, k_writing, k_reading, k_skip, k_output = jax.random.split(key, 6)
        squares = jax.random.uniform(k_rate, (state_size,), minval=1e-7) * (most**2 - least**2) + least**2
        self.log_rate = jnp.log(-0.5 * jnp.log(squares))
        self.log_phase = jnp.log(phase * jax.random.uniform(k_phase, (state_size,), minval=1e-7))
        self.log_scale = 0.5 * jnp.log1p(-jnp.exp(-2 * jnp.exp(self.log_rate)))
        self.writing = linear(width, 2 * state_size, spread=(2 * width) ** -0.5, key=k_writing)
        self.reading = linear(2 * state_size, width, spread=state_size**-0.5, key=k_reading)
        self.skip = jax.random.normal(k_skip, (width,))
        self.output = linear(width, 2 * width, spread=width**-0.5, use_bias=True, key=k_output)

    def __call__(self, xs: Float[Array, "time width"], mask: Bool[Array, " time"]) -> Float[Array, "time width"]:
        del mask
        drives = jax.vmap(self._drive)(xs)
        hidden = states(jnp.broadcast_to(self.transition()[None], drives.shape), drives)
        return jax.vmap(self._output)(hidden, xs)

    def start(self) -> Complex[Array, " state"]:
        return jnp.zeros_like(self.transition())

    def step(
        self, state: Complex[Array, " state"], x: Float[Array, " width"]
    ) -> tuple[Complex[Array, " state"], Float[Array, " width"]]:
        state = self.transition() * state + self._drive(x)
        return state, self._output(state, x)

    def transition(self) -> Complex[Array, " state"]:
        """Returns the eigenvalues, all within the unit circle."""
        return jnp.exp(jax.lax.complex(-jnp.exp(self.log_rate), jnp.exp(self.log_phase)))

    def _drive(self, x: Float[Array, " width"]) -> Complex[Array, " state"]:
        real, imaginary = jnp.split(self.writing(x), 2)
        scale = jnp.exp(self.log_scale)
        return jax.lax.complex(scale * real, scale * imaginary)

    def _output(self, hidden: Complex[Array, " state"], x: Float[Array, " width"]) -> Float[Array, " width"]:
        y = self.reading(jnp.concatenate([hidden.real, -hidden.imag]).astype(x.dtype)) + self.skip * x
        value, gate = jnp.split(self.output(jax.nn.gelu(y)), 2)
        return value * jax.nn.sigmoid(gate)
