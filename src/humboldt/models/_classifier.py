"""What the classifiers of the pseudo-languages share: word vectors, PyTorch's initialisation, one answer per string."""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from humboldt.models._linear import Linear, look_up
from humboldt.models.lstm import LSTMCell


class Embedding(eqx.Module):
    """A vector for each token id, standard normal to begin with (as in PyTorch)."""

    weight: Float[Array, "vocab in"]

    def __init__(self, num_tokens: int, size: int, *, key: PRNGKeyArray) -> None:
        self.weight = jax.random.normal(key, (num_tokens, size))

    def __call__(self, tokens: Int[Array, " time"]) -> Float[Array, "time in"]:
        return look_up(self.weight, tokens)


def uniform_linear(in_size: int, out_size: int, *, fan_in: int | None = None, key: PRNGKeyArray) -> Linear:
    """A linear layer as PyTorch begins it: weight and bias uniform within ± `fan_in ** -0.5`."""
    k_weight, k_bias = jax.random.split(key)
    bound = (fan_in or in_size) ** -0.5
    weight = jax.random.uniform(k_weight, (in_size, out_size), minval=-bound, maxval=bound)
    bias = jax.random.uniform(k_bias, (out_size,), minval=-bound, maxval=bound)
    return eqx.tree_at(lambda layer: (layer.weight, layer.bias), Linear(in_size, out_size, key=key), (weight, bias))


def uniform_lstm_cell(input_size: int, hidden_size: int, *, key: PRNGKeyArray) -> LSTMCell:
    """An LSTM cell as PyTorch begins it: everything uniform within ± `hidden_size ** -0.5`, and two biases.

    The cell adds 1 to its forget gate, which PyTorch does not: that bias begins 1 lower, so the gate is the same.
    """
    k_cell, k_input, k_recurrent = jax.random.split(key, 3)
    layers = (
        uniform_linear(input_size, 4 * hidden_size, fan_in=hidden_size, key=k_input),
        uniform_linear(hidden_size, 4 * hidden_size, key=k_recurrent),
    )
    cell = eqx.tree_at(lambda cell: (cell.input, cell.recurrent), LSTMCell(input_size, hidden_size, key=k_cell), layers)
    forget = slice(2 * hidden_size, 3 * hidden_size)  # the gates are i, g, f, o
    return eqx.tree_at(lambda cell: cell.input.bias, cell, replace_fn=lambda bias: bias.at[forget].add(-1.0))


def at_last(values: Float[Array, "time hidden"], mask: Bool[Array, " time"]) -> Float[Array, " hidden"]:
    """The row of the last real step. A sum with one term: its gradient needs no scatter."""
    is_last = mask & ~jnp.concatenate([mask[1:], jnp.zeros(1, bool)])
    return jnp.where(is_last[:, None], values, 0.0).sum(0)


def everywhere(logits: Float[Array, " out"], mask: Bool[Array, " time"]) -> Float[Array, "time out"]:
    """One answer for the whole string, given at every step: training and evaluation read it at the last one."""
    return jnp.broadcast_to(logits, (len(mask), len(logits)))


def check_sizes(settings: Any) -> None:
    """Raises a `ValueError` unless every whole number among a model's settings is 1 or more."""
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        if isinstance(value, int) and not isinstance(value, bool) and value < 1:
            raise ValueError(f"{field.name} is {value}, but must be at least 1.")


def count_parameters(model: Any) -> dict[str, int]:
    """How many numbers training changes: in the `embedding`, in the `readout`, and in the `body` between them."""

    def count(part: Any) -> int:
        return sum(leaf.size for leaf in jax.tree.leaves(eqx.filter(part, eqx.is_inexact_array)))

    ends = {"embedding": count(model.embedding), "readout": count(model.readout)}
    return {**ends, "body": count(model) - sum(ends.values())}
