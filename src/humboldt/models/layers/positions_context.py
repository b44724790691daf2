"""Contextual positions (CoPE, Golovneva et al. 2024): a position counts the tokens that a query chooses to count."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float


class ContextualPositions(eqx.Module):
    """Adds `q_i . e[p_ij]` to the score of query `i` and key `j`, with `p_ij` the sum of gates from `j` to `i`.

    The gate of a key is the sigmoid of its scaled score. Between whole positions, `q_i . e` is interpolated; larger
    positions than the last are the last one. All heads share `e`, which starts at 0, as in the released code. The
    attention must be causal.
    """

    weight: Float[Array, "position size"]

    def __init__(self, head_size: int, *, num_positions: int = 64) -> None:
        self.weight = jnp.zeros((num_positions, head_size))

    def __call__(
        self,
        queries: Float[Array, "query head size"],
        scores: Float[Array, "head query key"],
        mask: Bool[Array, "query key"],
    ) -> Float[Array, "head query key"]:
        """Returns what is added to the scaled scores. `mask` must hide all keys on the right of a query."""
        gates = jnp.where(mask[None], jax.nn.sigmoid(scores), 0.0)
        places = jnp.cumsum(gates[..., ::-1], -1)[..., ::-1]
        places = jnp.minimum(places, len(self.weight) - 1.0)
        below = jnp.floor(places)
        share = places - below
        by_position = jnp.einsum("qhd,pd->hqp", queries, self.weight.astype(queries.dtype))
        at = below.astype(jnp.int32)
        lower = jnp.take_along_axis(by_position, at, -1)
        upper = jnp.take_along_axis(by_position, jnp.minimum(at + 1, len(self.weight) - 1), -1)
        return lower * (1 - share) + upper * share
