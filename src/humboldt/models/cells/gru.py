"""The gated recurrent unit of Cho et al. (2014)."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from humboldt.models.cells.base import AbstractController
from humboldt.models.layers.linear import Linear, uniform_linear


class GRUCell(AbstractController):
    """`r, z = σ(W x + U h + b)`;   `n = tanh(W x + b + r ⊙ (U h + c))`;   `h' = (1 - z) n + z h`.

    As in PyTorch, the reset gate `r` acts on the product with the hidden state, behind its bias `c`; in the paper it
    acts on the hidden state itself.
    """

    input: Linear
    recurrent: Linear
    vectors: ClassVar[tuple[str, ...]] = ("hidden",)

    def __call__(self, state: Any, drive: Float[Array, " drive"]) -> tuple[Any, Float[Array, " hidden"]]:
        (hidden,) = state
        reset, keep, new = jnp.split(drive, 3)
        heard_reset, heard_keep, heard_new = jnp.split(self.recurrent(hidden), 3)
        reset, keep = jax.nn.sigmoid(reset + heard_reset), jax.nn.sigmoid(keep + heard_keep)
        new = jnp.tanh(new + reset * heard_new)
        hidden = new + keep * (hidden - new)
        return (hidden,), hidden


def uniform_gru_cell(input_size: int, hidden_size: int, *, key: PRNGKeyArray) -> GRUCell:
    """Builds a GRU cell initialised as in PyTorch: two biases, everything uniform within ± `hidden_size ** -0.5`."""
    k_input, k_recurrent = jax.random.split(key)
    return GRUCell(
        uniform_linear(input_size, 3 * hidden_size, fan_in=hidden_size, key=k_input),
        uniform_linear(hidden_size, 3 * hidden_size, key=k_recurrent),
    )
