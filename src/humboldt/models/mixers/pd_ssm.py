"""PD-SSM (Terzić et al. 2025): every token moves the numbers of a complex state to other places, and scales them."""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from humboldt.models.layers.linear import Linear
from humboldt.models.mixers.base import AbstractMixer
from humboldt.models.mixers.parts import linear

State = Float[Array, "two state"]
"""Real parts, then imaginary ones."""


class PDSSM(AbstractMixer):
    """`h <- D P h + B x`, `y = W [Re h, Im h] + skip ⊙ x`, from a state with a one in its first place.

    `P` has a single one in each row, at the largest number of a row of `Σ_k softmax(S x)_k M_k`; the gradient is that
    of the softmax of these rows (a straight-through estimate). `D` is diagonal, with sizes and phases from two small
    networks of the token. Sizes are between 0 and 1, so that `D P` makes no number of the state larger in size.

    Structure and initialisation are those of the released `models/pdssm.py`
    (IBM/expressive-sparse-state-space-model). There, a layer norm follows the readout, and the input is added
    only by `skip`.
    """

    sizes: tuple[Linear, Linear]
    phases: tuple[Linear, Linear]
    select: Linear
    matrices: Float[Array, "matrix state state"]
    writing: Linear  # B, real parts then imaginary ones
    skip: Float[Array, " width"]
    reading: Linear

    def __init__(
        self,
        width: int,
        *,
        state_size: int | None = None,
        matrices: int = 8,
        expansion: int = 2,
        key: PRNGKeyArray,
    ) -> None:
        state_size = width if state_size is None else state_size
        k_sizes, k_phases, k_select, k_matrices, k_writing, k_skip, k_reading = jax.random.split(key, 7)
        hidden = expansion * state_size

        def small_network(key: PRNGKeyArray) -> tuple[Linear, Linear]:
            keys = jax.random.split(key)
            sizes = ((width, hidden), (hidden, state_size))
            first, second = (linear(*size, use_bias=True, key=k) for size, k in zip(sizes, keys, strict=True))
            return first, second

        self.sizes, self.phases = small_network(k_sizes), small_network(k_phases)
        self.select = linear(width, matrices, key=k_select)
        self.matrices = jax.random.normal(k_matrices, (matrices, state_size, state_size)) * state_size**-0.5
        self.writing = linear(width, 2 * state_size, spread=(2 * state_size) ** -0.5, key=k_writing)
        self.skip = jax.random.normal(k_skip, (width,)) * width**-0.5
        self.reading = linear(2 * state_size, width, use_bias=True, key=k_reading)

    def __call__(self, xs: Float[Array, "time width"], mask: Bool[Array, " time"]) -> Float[Array, "time width"]:
        del mask

        # Matrices are made again for the gradient: there is one for every token.
        @jax.checkpoint
        def step(state: State, token: tuple[Array, Array, Array]) -> tuple[State, State]:
            state = self.advance(state, *token)
            return state, state

        hidden = jax.lax.scan(step, self.start(), jax.vmap(self.token)(xs))[1]
        return jax.vmap(self._output)(hidden, xs)

    def start(self) -> State:
        return jnp.zeros((2, self.matrices.shape[1]), self.skip.dtype).at[0, 0].set(1.0)

    def step(self, state: State, x: Float[Array, " width"]) -> tuple[State, Float[Array, " width"]]:
        state = self.advance(state, *self.token(x))
        return state, self._output(state, x)

    def token(self, x: Float[Array, " width"]) -> tuple[Float[Array, " matrix"], State, State]:
        """Returns the shares of the matrices, the diagonal, and what is added to the state."""
        size, phase = (
            jax.nn.sigmoid(second(jax.nn.gelu(first(x), approximate=False)))
            for first, second in (self.sizes, self.phases)
        )
        phase = 2 * math.pi * phase
        diagonal = jnp.stack([size * jnp.cos(phase), size * jnp.sin(phase)])
        return jax.nn.softmax(self.select(x)), diagonal, self.writing(x).reshape(2, -1)

    def advance(self, state: State, shares: Float[Array, " matrix"], diagonal: State, added: State) -> State:
        """Returns the state after one token."""
        moved = state @ self.moves(shares).T
        return added + jnp.stack(
            [diagonal[0] * moved[0] - diagonal[1] * moved[1], diagonal[0] * moved[1] + diagonal[1] * moved[0]]
        )

    def moves(self, shares: Float[Array, " matrix"]) -> Float[Array, "state state"]:
        """Returns `P`."""
        scores = jnp.einsum("k,kij->ij", shares, self.matrices)
        soft = jax.nn.softmax(scores)
        hard = jax.nn.one_hot(scores.argmax(-1), scores.shape[-1], dtype=soft.dtype)
        return hard + (soft - jax.lax.stop_gradient(soft))

    def _output(self, state: State, x: Float[Array, " width"]) -> Float[Array, " width"]:
        return self.reading(state.reshape(-1)) + self.skip * x
