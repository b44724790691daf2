"""Attention weights of scores."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float


def softmax_of_visible(
    scores: Float[Array, "head query key"], mask: Bool[Array, "query key"]
) -> Float[Array, "head query key"]:
    """Returns weights of the keys that a query may attend to; each row sums to one, or to zero without any key."""
    visible = mask[None]  # the same for all heads
    # The smallest number rather than infinity, and zeros afterwards: a row without any key must not become NaN.
    weights = jax.nn.softmax(jnp.where(visible, scores, jnp.finfo(scores.dtype).min))
    return jnp.where(visible, weights, 0.0)
