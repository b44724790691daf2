"""Mamba-2 (Dao and Gu 2024): a state space with one decay per head, which is a matrix state without erasure."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from humboldt.errors import UsageError
from humboldt.models.layers.linear import Linear
from humboldt.models.mixers.base import AbstractMixer
from humboldt.models.mixers.decays import ScalarDecay
from humboldt.models.mixers.matrix_state import State, read, read_all_shared, write
from humboldt.models.mixers.parts import HeadNorm, linear
from humboldt.models.mixers.short_convolution import Recent, ShortConvolution


class Mamba2State(NamedTuple):
    """The inputs that the convolution still needs, and the state space of every head."""

    recent: Recent
    matrices: State


class Mamba2(AbstractMixer):
    """`h <- exp(-Δ rate) h + B (Δ x)ᵀ`, `y = Cᵀh + D x` in every head; `B` and `C` are common to all heads.

    Sizes, biases, norm and initialisation are those of mamba's `mamba2.py` (one group, the norm after the gate),
    except that the number of heads is given instead of their size.
    """

    input: Linear  # the gate of the output, then x, B, C
    convolution: ShortConvolution  # of x, B, C
    decay: ScalarDecay
    skip: Float[Array, " heads"]
    norm: HeadNorm
    output: Linear
    state_size: int = eqx.field(static=True)
    chunk: int | None = eqx.field(static=True)

    def __init__(
        self,
        width: int,
        heads: int,
        *,
        state_size: int = 128,
        expansion: int = 2,
        convolution: int = 4,
        chunk: int | None = None,
        key: PRNGKeyArray,
    ) -> None:
        inner = expansion * width
        if inner % heads:
            raise UsageError(f"width={width} times {expansion} is not a multiple of heads={heads}. Change one of them.")
        k_input, k_convolution, k_decay, k_output = jax.random.split(key, 4)
        self.input = linear(width, 2 * inner + 2 * state_size, key=k_input)
        features = inner + 2 * state_size
        self.convolution = ShortConvolution(features, size=convolution, use_bias=True, key=k_convolution)
        self.decay = ScalarDecay(width, heads, rates=(1.0, 16.0), key=k_decay)
        self.skip = jnp.ones(heads)
        self.norm = HeadNorm(1, inner, shared=True, centred=False)
        self.output = linear(inner, width, key=k_output)
        self.state_size = state_size
        self.chunk = chunk

    def __call__(self, xs: Float[Array, "time width"], mask: Bool[Array, " time"]) -> Float[Array, "time width"]:
        gates, features = jnp.split(jax.vmap(self.input)(xs), [self._inner], axis=-1)
        features = self.convolution(features, mask)
        queries, log_decays, keys, values = jax.vmap(self._token)(xs, features)
        ys = read_all_shared(queries, log_decays, keys, values, chunk=self.chunk)
        return jax.vmap(self._output)(features, gates, ys)

    def start(self) -> Mamba2State:
        heads = len(self.skip)
        return Mamba2State(self.convolution.start(), jnp.zeros((heads, self.state_size, self._inner // heads)))

    def step(self, state: Mamba2State, x: Float[Array, " width"]) -> tuple[Mamba2State, Float[Array, " width"]]:
        gate, features = jnp.split(self.input(x), [self._inner])
        recent, features = self.convolution.step(state.recent, features)
        query, log_decay, key, values = self._token(x, features)
        query, key = (jnp.tile(vector[None], (len(self.skip), 1)) for vector in (query, key))
        matrices = write(state.matrices, log_decay[:, None], key[None], values[None], None)
        return Mamba2State(recent, matrices), self._output(features, gate, read(matrices, query))

    @property
    def _inner(self) -> int:
        return len(self.output.weight)

    def _token(self, x: Array, features: Array) -> tuple[Array, Array, Array, Array]:
        heads = len(self.skip)
        values, key, query = jnp.split(features, [self._inner, self._inner + self.state_size])
        values = values.reshape(heads, -1) * self.decay.step_size(x)[:, None]
        return query, self.decay(x)[:, 0], key, values

    def _output(self, features: Array, gate: Array, y: Float[Array, "heads value"]) -> Float[Array, " width"]:
        y = y + self.skip[:, None] * features[: self._inner].reshape(len(self.skip), -1)
        return self.output(self.norm((y.reshape(-1) * jax.nn.silu(gate))[None])[0])
