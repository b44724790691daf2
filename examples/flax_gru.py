"""A GRU in Flax: `humboldt run chomsky --model examples/flax_gru.py:gru`."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from flax import linen as nn


class GRU(nn.Module):
    """Plain Flax. Maps the tokens of one example, shape `(time,)`, to logits, shape `(time, output_size)`."""

    input_size: int
    output_size: int
    hidden_size: int

    @nn.compact
    def __call__(self, tokens):
        embedded = nn.Embed(self.input_size, self.hidden_size)(tokens)
        return nn.Dense(self.output_size)(nn.RNN(nn.GRUCell(self.hidden_size))(embedded))


class FlaxNetwork(eqx.Module):
    """Any Flax module as an Equinox one: its variables are trained, the module itself is static."""

    variables: Any
    module: nn.Module = eqx.field(static=True)

    def __call__(self, tokens, mask, *, key=None):
        del mask, key  # padding comes after all real tokens; there is no dropout
        return self.module.apply(self.variables, tokens)


def gru(input_size: int, output_size: int, hidden_size: int = 64, *, key) -> FlaxNetwork:
    """Returns a network. Humboldt calls this function; the parameter `key` marks it as a JAX network."""
    module = GRU(input_size, output_size, hidden_size)
    return FlaxNetwork(module.init(key, jnp.zeros(1, int)), module)
