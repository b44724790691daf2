"""The network of the model: plain Equinox, for one example."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp


class LeakyNetwork(eqx.Module):
    """`h' = keep * h + (1 - keep) * tanh(W x + U h)`; logits at every step."""

    embedding: jax.Array
    recurrent: jax.Array
    readout: jax.Array
    keep: float = eqx.field(static=True)

    def __init__(self, input_size: int, hidden_size: int, output_size: int, *, keep: float, key: Any) -> None:
        k_in, k_rec, k_out = jax.random.split(key, 3)
        self.embedding = jax.random.normal(k_in, (input_size, hidden_size))
        self.recurrent = jax.random.normal(k_rec, (hidden_size, hidden_size)) / hidden_size**0.5
        self.readout = jax.random.normal(k_out, (hidden_size, output_size)) / hidden_size**0.5
        self.keep = keep

    def __call__(self, tokens: jax.Array, mask: jax.Array, *, key: Any = None) -> jax.Array:
        """Maps token ids of shape `(time,)` to logits of shape `(time, output_size)`."""
        del mask, key

        def step(hidden: jax.Array, token: jax.Array) -> tuple[jax.Array, jax.Array]:
            new = jnp.tanh(self.embedding[token] + hidden @ self.recurrent)
            hidden = self.keep * hidden + (1 - self.keep) * new
            return hidden, hidden @ self.readout

        return jax.lax.scan(step, jnp.zeros_like(self.recurrent[0]), tokens)[1]
