"""The recurrent layer of Elman (1990)."""

from typing import Any, ClassVar, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from humboldt.models.cells.base import AbstractController
from humboldt.models.layers.linear import Linear, uniform_linear

Activation = Literal["relu", "tanh"]


class RNNCell(AbstractController):
    """`h' = f(W x + U h + b)`."""

    input: Linear
    recurrent: Linear
    activation: Activation = eqx.field(static=True)
    vectors: ClassVar[tuple[str, ...]] = ("hidden",)

    def __call__(self, state: Any, drive: Float[Array, " hidden"]) -> tuple[Any, Float[Array, " hidden"]]:
        activation = jax.nn.relu if self.activation == "relu" else jnp.tanh
        hidden = activation(self.recurrent(state[0]) + drive)
        return (hidden,), hidden


def normal_rnn_cell(
    input_size: int, hidden_size: int, *, activation: Activation, fan_in: int | None = None, key: PRNGKeyArray
) -> RNNCell:
    """Builds an RNN cell initialised as in the library of Delétang et al. (2023).

    `fan_in` of the input's layer may count other inputs that share its drive; by default there are none.
    """
    k_input, k_recurrent = jax.random.split(key)
    return RNNCell(
        Linear(input_size, hidden_size, fan_in=fan_in, key=k_input),
        Linear(hidden_size, hidden_size, use_bias=False, joins_drive=True, key=k_recurrent),
        activation,
    )


def uniform_rnn_cell(input_size: int, hidden_size: int, *, key: PRNGKeyArray) -> RNNCell:
    """Builds an RNN cell as in PyTorch: tanh, two biases, everything uniform within ± `hidden_size ** -0.5`."""
    k_input, k_recurrent = jax.random.split(key)
    return RNNCell(
        uniform_linear(input_size, hidden_size, fan_in=hidden_size, key=k_input),
        uniform_linear(hidden_size, hidden_size, joins_drive=True, key=k_recurrent),
        "tanh",
    )
