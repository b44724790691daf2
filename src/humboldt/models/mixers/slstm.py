"""sLSTM (Beck et al. 2024): an LSTM with exponential gates, and recurrent matrices that stay within a head."""

from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from humboldt.errors import UsageError
from humboldt.models.mixers.base import AbstractMixer
from humboldt.models.mixers.parts import BlockLinear, HeadNorm
from humboldt.models.mixers.short_convolution import Recent, ShortConvolution

BiasInitialisation = Literal["powerlaw_blockdependent", "small_init", "standard", "zeros"]
"""Forget biases from 5 down to -7 along a head, or from 3 up to 6; or all biases random, or zero (xlstm's names)."""

RecurrentInitialisation = Literal["zeros", "standard"]
Heads = Float[Array, "heads size"]


class Cell(NamedTuple):
    """The state of all heads. `cell` and `normaliser` are those of the paper times `exp(-stabiliser)`."""

    hidden: Heads
    cell: Heads
    normaliser: Heads
    stabiliser: Heads


class SLSTMState(NamedTuple):
    """The inputs that the convolution still needs, and the cell."""

    recent: Recent | None
    cell: Cell


class SLSTM(AbstractMixer):
    """`c <- f c + i tanh(z)`, `n <- f n + i`, `h = σ(o) c / n`, with `i = exp(..)`, `f = σ(..)`, and a norm per head.

    Structure and initialisation are those of xlstm's `slstm/layer.py` and `slstm/cell.py`. There, input and forget
    gates see a convolution of the input, and each gate sees the features of its own head. Papers differ in
    `convolution` (0 for none; Beck et al. had none on formal languages, Walker et al. had 4), in `heads`, and in how
    biases and recurrent matrices begin. `layer` and `layers` are for `powerlaw_blockdependent`.
    """

    convolution: ShortConvolution | None
    gates: tuple[BlockLinear, BlockLinear, BlockLinear, BlockLinear]  # input, forget, candidate, output
    recurrent: Float[Array, "heads size four size"]
    bias: Float[Array, "four heads size"]
    norm: HeadNorm

    def __init__(
        self,
        width: int,
        heads: int,
        *,
        convolution: int = 4,
        bias: BiasInitialisation = "powerlaw_blockdependent",
        recurrent: RecurrentInitialisation = "zeros",
        layer: int = 0,
        layers: int = 1,
        key: PRNGKeyArray,
    ) -> None:
        if width % heads:
            raise UsageError(f"width={width} cannot be shared out among heads={heads}. Make it a multiple.")
        k_convolution, k_recurrent, k_bias, *k_gates = jax.random.split(key, 7)
        size = width // heads
        self.convolution = None
        if convolution:
            self.convolution = ShortConvolution(width, size=convolution, use_bias=True, key=k_convolution)
        i, f, z, o = (BlockLinear(width, heads, dim=width, key=k) for k in k_gates)
        self.gates = (i, f, z, o)
        bound = width**-0.5
        shape = (heads, size, 4, size)
        self.recurrent = jnp.zeros(shape)
        if recurrent == "standard":
            self.recurrent = jax.random.uniform(k_recurrent, shape, minval=-bound, maxval=bound)
        self.bias = jnp.zeros((4, heads, size))
        if bias == "standard":
            self.bias = jax.random.uniform(k_bias, self.bias.shape, minval=-bound, maxval=bound)
        elif bias != "zeros":
            self.bias = self.bias.at[1].set(_forget_bias(bias, size, layer, layers)[None])
        self.norm = HeadNorm(heads, size, shared=False, centred=True)

    def __call__(self, xs: Float[Array, "time width"], mask: Bool[Array, " time"]) -> Float[Array, "time width"]:
        convolved = xs if self.convolution is None else self.convolution(xs, mask)
        drives = jax.vmap(self._drive)(xs, convolved)

        def step(cell: Cell, drive: Array) -> tuple[Cell, Array]:
            cell = self.advance(cell, drive)
            return cell, cell.hidden

        hidden = jax.lax.scan(step, self.start().cell, drives)[1]
        return jax.vmap(self.norm)(hidden).reshape(len(xs), -1)

    def start(self) -> SLSTMState:
        zeros = jnp.zeros(self.bias.shape[1:], self.bias.dtype)
        recent = None if self.convolution is None else self.convolution.start()
        return SLSTMState(recent, Cell(zeros, zeros, zeros, zeros))

    def step(self, state: SLSTMState, x: Float[Array, " width"]) -> tuple[SLSTMState, Float[Array, " width"]]:
        recent, convolved = state.recent, x
        if self.convolution is not None and recent is not None:
            recent, convolved = self.convolution.step(recent, x)
        cell = self.advance(state.cell, self._drive(x, convolved))
        return SLSTMState(recent, cell), self.norm(cell.hidden).reshape(-1)

    def advance(self, cell: Cell, drive: Float[Array, "four heads size"]) -> Cell:
        """Returns one step of the cell, given what the input contributes to its gates."""
        gates = drive + jnp.einsum("hi,higo->gho", cell.hidden, self.recurrent)
        i, f, z, o = gates[0], gates[1], gates[2], gates[3]
        # The normaliser is zero before the first step, and at least 1 after it. Then there is nothing to forget.
        is_first = cell.normaliser == 0
        log_forget = jax.nn.log_sigmoid(f) + cell.stabiliser
        stabiliser = jnp.where(is_first, i, jnp.maximum(i, log_forget))
        forget = jnp.where(is_first, 0.0, jnp.exp(jnp.where(is_first, 0.0, log_forget - stabiliser)))
        write = jnp.exp(i - stabiliser)
        memory = forget * cell.cell + write * jnp.tanh(z)
        normaliser = forget * cell.normaliser + write
        return Cell(jax.nn.sigmoid(o) * memory / normaliser, memory, normaliser, stabiliser)

    def _drive(self, x: Float[Array, " width"], convolved: Float[Array, " width"]) -> Float[Array, "four heads size"]:
        sources = (convolved, convolved, x, x)
        drive = jnp.stack([gate(source) for gate, source in zip(self.gates, sources, strict=True)])
        return drive.reshape(self.bias.shape) + self.bias


def _forget_bias(name: BiasInitialisation, size: int, layer: int, layers: int) -> Float[Array, " size"]:
    if name == "small_init":
        return jnp.linspace(3.0, 6.0, size)
    depth = layer / (layers - 1) if layers > 1 else 0.0
    return 5.0 - 12.0 * (jnp.arange(float(size)) / max(size - 1, 1)) ** (0.3 + 1.3 * depth)
