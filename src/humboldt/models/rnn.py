"""The RNN of Delétang et al. (2023)."""

from dataclasses import dataclass
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from humboldt.models import models
from humboldt.models._cell import AbstractCell, Extent
from humboldt.models._linear import Linear
from humboldt.models._recurrent import RecurrentModel


class RNNCell(AbstractCell):
    """`h' = f(W x + U h + b)` (Elman 1990)."""

    input: Linear
    recurrent: Linear
    activation: Literal["relu", "tanh"] = eqx.field(static=True)

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        activation: Literal["relu", "tanh"],
        fan_in: int | None = None,
        key: PRNGKeyArray,
    ) -> None:
        k_input, k_recurrent = jax.random.split(key)
        self.input = Linear(input_size, hidden_size, fan_in=fan_in, key=k_input)
        self.recurrent = Linear(hidden_size, hidden_size, use_bias=False, joins_drive=True, key=k_recurrent)
        self.activation = activation

    def project(self, x: Float[Array, " in"]) -> Float[Array, " hidden"]:
        return self.input(x)

    def init_state(self, extent: Extent) -> Float[Array, " hidden"]:
        del extent
        return jnp.zeros(self.recurrent.weight.shape[0], self.recurrent.weight.dtype)

    def __call__(self, state: Any, drive: Float[Array, " hidden"]) -> tuple[Any, Float[Array, " hidden"]]:
        activation = jax.nn.relu if self.activation == "relu" else jnp.tanh
        hidden = activation(self.recurrent(state) + drive)
        return hidden, hidden


@models.register("rnn", version=1)
@dataclass(frozen=True, kw_only=True)
class RNN:
    """One vanilla recurrent layer and a linear readout."""

    hidden_size: int = 256  # appendix A.2
    activation: Literal["relu", "tanh"] = "relu"  # the paper is silent; its released code (Haiku's VanillaRNN) has ReLU
    relu_readout: bool = False  # released code: true. added later: stays out of the identity at its default

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: PRNGKeyArray) -> RecurrentModel:
        """The network, freshly initialised."""
        k_cell, k_readout = jax.random.split(key)
        cell = RNNCell(input_size, self.hidden_size, activation=self.activation, key=k_cell)
        readout = Linear(self.hidden_size, output_size, key=k_readout)
        return RecurrentModel(cell, readout, input_size, num_symbols, self.relu_readout)
