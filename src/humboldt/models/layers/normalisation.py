"""Residual connections with normalisation."""

import equinox as eqx
import jax
from jaxtyping import Array, Float, PRNGKeyArray

from humboldt.models.layers.dropout import dropout


class AddNorm(eqx.Module):
    """A residual connection: `normalise(x + dropout(y))` or, if `is_first`, `x + dropout(y)`.

    With `is_first`, the input of the layer is normalised instead (see `enter`).
    """

    norm: eqx.nn.LayerNorm
    dropout: float = eqx.field(static=True)
    is_first: bool = eqx.field(static=True)

    def __init__(self, width: int, dropout: float, *, is_first: bool = False, epsilon: float = 1e-5) -> None:
        self.norm = eqx.nn.LayerNorm(width, epsilon)
        self.dropout = dropout
        self.is_first = is_first

    def enter(self, x: Float[Array, "time width"]) -> Float[Array, "time width"]:
        """Returns the input of the layer inside the residual connection."""
        return jax.vmap(self.norm)(x) if self.is_first else x

    def __call__(
        self, x: Float[Array, "time width"], y: Float[Array, "time width"], *, key: PRNGKeyArray | None = None
    ) -> Float[Array, "time width"]:
        both = x + dropout(y, self.dropout, key)
        return both if self.is_first else jax.vmap(self.norm)(both)
