"""S4D (Gu et al. 2022): a complex diagonal state space per feature, the same at every step."""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Complex, Float, PRNGKeyArray

from humboldt.errors import UsageError
from humboldt.models.layers.linear import Linear
from humboldt.models.mixers.base import AbstractMixer
from humboldt.models.mixers.diagonal import states
from humboldt.models.mixers.parts import linear

# Tokens up to which the output is a sum of the inputs before, weighted by the response to a single one: a matrix for
# every feature, which all examples share. States need no time of their own then. Longer strings would need too much
# memory for the matrices, and are read by their states.
LONGEST_RESPONSE = 128


class S4D(AbstractMixer):
    """`h <- exp(Δ A) h + x`, `y = 2 Re(C (exp(Δ A) - 1) / A · h) + D x`, then GELU and a gated linear layer.

    Parameters and their initial values (`A = -1/2 + iπn`) are those of `models/s4/s4d.py` in state-spaces/s4. Of every
    pair of conjugate states one is kept, so that `state_size` numbers are `state_size / 2` complex ones.
    """

    log_step: Float[Array, " width"]
    log_rate: Float[Array, "width half"]
    frequency: Float[Array, "width half"]
    reading: Float[Array, "width half two"]  # real and imaginary part
    skip: Float[Array, " width"]
    output: Linear

    def __init__(self, width: int, *, state_size: int = 64, key: PRNGKeyArray) -> None:
        if state_size % 2:
            raise UsageError(f"state_size={state_size} is odd, but states come in conjugate pairs. Make it even.")
        k_step, k_reading, k_skip, k_output = jax.random.split(key, 4)
        half = state_size // 2
        least, most = math.log(0.001), math.log(0.1)
        self.log_step = jax.random.uniform(k_step, (width,), minval=least, maxval=most)
        self.log_rate = jnp.full((width, half), math.log(0.5))
        self.frequency = jnp.tile(math.pi * jnp.arange(float(half))[None], (width, 1))
        # A complex normal number of variance 1 has parts of variance 1/2.
        self.reading = jax.random.normal(k_reading, (width, half, 2)) * 0.5**0.5
        self.skip = jax.random.normal(k_skip, (width,))
        self.output = linear(width, 2 * width, use_bias=True, key=k_output)

    def __call__(self, xs: Float[Array, "time width"], mask: Bool[Array, " time"]) -> Float[Array, "time width"]:
        del mask
        if len(xs) <= LONGEST_RESPONSE:
            one = jnp.zeros_like(xs).at[0].set(1.0)
            ys = jnp.einsum("ijw,jw->iw", _shifted(self._read_all(one)), xs)
        else:
            ys = self._read_all(xs)
        return jax.vmap(self._output)(ys, xs)

    def start(self) -> Complex[Array, "width half"]:
        return jnp.zeros_like(self._discrete()[0])

    def step(
        self, state: Complex[Array, "width half"], x: Float[Array, " width"]
    ) -> tuple[Complex[Array, "width half"], Float[Array, " width"]]:
        decay, reading = self._discrete()
        state = decay * state + x[:, None].astype(state.dtype)
        return state, self._output(_read(state, reading), x)

    def _read_all(self, xs: Float[Array, "time width"]) -> Float[Array, "time width"]:
        """Returns what is read from the state after every step."""
        decay, reading = self._discrete()
        drives = jnp.tile(xs[:, :, None], (1, 1, decay.shape[1])).astype(decay.dtype)
        hidden = states(jnp.broadcast_to(decay[None], drives.shape), drives)
        return jax.vmap(lambda state: _read(state, reading))(hidden)

    def _discrete(self) -> tuple[Complex[Array, "width half"], Complex[Array, "width half"]]:
        """Returns the factors of the states at a step, and how they are read."""
        continuous = jax.lax.complex(-jnp.exp(self.log_rate), self.frequency)
        stepped = continuous * jnp.exp(self.log_step)[:, None].astype(continuous.dtype)
        reading = jax.lax.complex(self.reading[..., 0], self.reading[..., 1])
        return jnp.exp(stepped), reading * jnp.expm1(stepped) / continuous

    def _output(self, y: Float[Array, " width"], x: Float[Array, " width"]) -> Float[Array, " width"]:
        value, gate = jnp.split(self.output(jax.nn.gelu(y + self.skip * x, approximate=False)), 2)
        return value * jax.nn.sigmoid(gate)


def _read(state: Complex[Array, "width half"], reading: Complex[Array, "width half"]) -> Float[Array, " width"]:
    return 2 * (reading * state).sum(-1).real


def _shifted(response: Float[Array, "time width"]) -> Float[Array, "time time width"]:
    """Returns `response[i - j]` at `[i, j]`, and zero where `j` is after `i`.

    It is written row by row, each a place further, around a circle of twice the length. The gradient of these copies is
    a sum, where that of looking numbers up would be a slow scatter.
    """
    num_steps, width = response.shape
    circle = jnp.concatenate([response[:1], jnp.zeros_like(response), response[:0:-1]])
    rows = jnp.tile(circle, (num_steps, 1))[: num_steps * (2 * num_steps - 1)]
    return rows.reshape(num_steps, 2 * num_steps - 1, width)[:, :num_steps]
