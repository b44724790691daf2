"""Cells as PyTorch makes them: two biases, and every weight uniform within the inverse root of a size."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from humboldt.models._cell import AbstractCell, Extent
from humboldt.models._linear import Linear
from humboldt.models.lstm import gates


def uniform_linear(
    in_size: int, out_size: int, *, key: PRNGKeyArray, size: int | None = None, joins_drive: bool = False
) -> Linear:
    """A linear layer whose weights and biases are drawn from ±`size ** -0.5`; `size` is `in_size` unless given."""
    k_weight, k_bias = jax.random.split(key)
    bound = (size or in_size) ** -0.5
    layer = Linear(in_size, out_size, joins_drive=joins_drive, key=k_weight)
    weight = jax.random.uniform(k_weight, (in_size, out_size), minval=-bound, maxval=bound)
    bias = jax.random.uniform(k_bias, (out_size,), minval=-bound, maxval=bound)
    return eqx.tree_at(lambda layer: (layer.weight, layer.bias), layer, (weight, bias))


class AbstractUniformCell(AbstractCell):
    """A recurrent layer. Its state is a tuple that begins with what the next step hears: the hidden state."""

    input: Linear
    recurrent: Linear

    def __init__(self, input_size: int, hidden_size: int, *, gates: int, key: PRNGKeyArray) -> None:
        k_input, k_recurrent = jax.random.split(key)
        self.input = uniform_linear(input_size, gates * hidden_size, size=hidden_size, key=k_input)
        self.recurrent = uniform_linear(hidden_size, gates * hidden_size, joins_drive=True, key=k_recurrent)

    def project(self, x: Float[Array, " in"]) -> Float[Array, " drive"]:
        return self.input(x)


class UniformLSTMCell(AbstractUniformCell):
    """`i, g, f, o = W x + U h + b`;   `c' = σ(f) c + σ(i) tanh(g)`;   `h' = σ(o) tanh(c')`."""

    def __init__(self, input_size: int, hidden_size: int, *, key: PRNGKeyArray) -> None:
        super().__init__(input_size, hidden_size, gates=4, key=key)

    def init_state(self, extent: Extent) -> tuple[Array, Array]:
        del extent
        zeros = jnp.zeros(self.recurrent.weight.shape[0], self.recurrent.weight.dtype)
        return zeros, zeros

    def __call__(self, state: Any, drive: Float[Array, " drive"]) -> tuple[Any, Float[Array, " hidden"]]:
        hidden, memory = state
        # `gates` adds 1 to the forget gate, as the library of another paper does; this takes it away again.
        forget = jnp.repeat(jnp.array([0.0, 0.0, 1.0, 0.0], drive.dtype), hidden.shape[0])
        hidden, memory = gates(self.recurrent(hidden) + drive - forget, memory)
        return (hidden, memory), hidden


class UniformRNNCell(AbstractUniformCell):
    """`h' = tanh(W x + U h + b)`."""

    def __init__(self, input_size: int, hidden_size: int, *, key: PRNGKeyArray) -> None:
        super().__init__(input_size, hidden_size, gates=1, key=key)

    def init_state(self, extent: Extent) -> tuple[Array]:
        del extent
        return (jnp.zeros(self.recurrent.weight.shape[0], self.recurrent.weight.dtype),)

    def __call__(self, state: Any, drive: Float[Array, " drive"]) -> tuple[Any, Float[Array, " hidden"]]:
        hidden = jnp.tanh(self.recurrent(state[0]) + drive)
        return (hidden,), hidden
