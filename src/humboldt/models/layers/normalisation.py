"""Residual connections with normalisation."""

import equinox as eqx
import jax
from jaxtyping import Array, Float, PRNGKeyArray

from humboldt.models.layers.dropout import dropout


class AddNorm(eqx.Module):
    """A residual connection: `normalise(x + dropout(y))`."""

    norm: eqx.nn.LayerNorm
    dropout: float = eqx.field(static=True)

    def __init__(self, width: int, dropout: float) -> None:
        self.norm = eqx.nn.LayerNorm(width)
        self.dropout = dropout

    def __call__(
        self, x: Float[Array, "time width"], y: Float[Array, "time width"], *, key: PRNGKeyArray | None = None
    ) -> Float[Array, "time width"]:
        return jax.vmap(self.norm)(x + dropout(y, self.dropout, key))
