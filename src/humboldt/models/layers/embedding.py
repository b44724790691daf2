"""Embeddings: tokens to vectors."""

import equinox as eqx
import jax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from humboldt.models.layers.dropout import dropout
from humboldt.models.layers.linear import look_up
from humboldt.models.layers.positions import sinusoids


class NormalEmbedding(eqx.Module):
    """`weight[token]`, with weights drawn from a normal distribution, by default of deviation 1 (as in PyTorch)."""

    weight: Float[Array, "token size"]

    def __init__(self, num_tokens: int, size: int, *, spread: float = 1.0, key: PRNGKeyArray) -> None:
        self.weight = jax.random.normal(key, (num_tokens, size)) * spread

    def __call__(self, tokens: Int[Array, " time"]) -> Float[Array, "time size"]:
        return look_up(self.weight, tokens)


class ScaledEmbedding(eqx.Module):
    """The input of the first block of a Transformer.

    `sqrt(width) * weight[token]`, and with `use_sin_cos` the sinusoids of the position, with dropout on the sum. As in
    the released code, there is no dropout without the sinusoids.
    """

    weight: Float[Array, "token width"]
    use_sin_cos: bool = eqx.field(static=True)
    dropout: float = eqx.field(static=True)

    def __init__(
        self, num_tokens: int, width: int, *, use_sin_cos: bool, dropout: float = 0.1, key: PRNGKeyArray
    ) -> None:
        self.weight = 0.02 * jax.random.truncated_normal(key, -2.0, 2.0, (num_tokens, width))
        self.use_sin_cos = use_sin_cos
        self.dropout = dropout

    def __call__(
        self, tokens: Int[Array, " time"], places: Int[Array, " time"], *, key: PRNGKeyArray | None = None
    ) -> Float[Array, "time width"]:
        """Returns one vector for each token. `places` are the positions that the sinusoids encode."""
        width = self.weight.shape[1]
        x = look_up(self.weight, tokens) * width**0.5
        return dropout(x + sinusoids(places, width).astype(x.dtype), self.dropout, key) if self.use_sin_cos else x
