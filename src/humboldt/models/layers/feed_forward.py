"""The feed-forward layer of a Transformer block."""

import equinox as eqx
import jax
from jaxtyping import Array, Float, PRNGKeyArray

from humboldt.models.layers.dropout import dropout
from humboldt.models.layers.linear import Linear


class FeedForward(eqx.Module):
    """Two linear layers with a ReLU between them, at every position."""

    up: Linear
    down: Linear
    inner_dropout: float = eqx.field(static=True)

    def __init__(self, width: int, size: int, *, inner_dropout: float = 0.0, key: PRNGKeyArray) -> None:
        k_up, k_down = jax.random.split(key)
        self.up = Linear(width, size, key=k_up)
        self.down = Linear(size, width, key=k_down)
        self.inner_dropout = inner_dropout

    def __call__(self, x: Float[Array, "time width"], *, key: PRNGKeyArray | None = None) -> Float[Array, "time width"]:
        hidden = dropout(jax.nn.relu(jax.vmap(self.up)(x)), self.inner_dropout, key)
        return jax.vmap(self.down)(hidden)
