"""Pooling: one vector per token to one answer per string."""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float


def at_last(values: Float[Array, "time hidden"], mask: Bool[Array, " time"]) -> Float[Array, " hidden"]:
    """Returns the row of the last real step. It is computed as a sum with one term, whose gradient needs no scatter."""
    is_last = mask & ~jnp.concatenate([mask[1:], jnp.zeros(1, bool)])
    return jnp.where(is_last[:, None], values, 0.0).sum(0)


def mean_of_real(values: Float[Array, "time hidden"], mask: Bool[Array, " time"]) -> Float[Array, " hidden"]:
    """Returns the mean of the rows of all real steps."""
    return jnp.where(mask[:, None], values, 0.0).sum(0) / jnp.maximum(mask.sum(), 1).astype(values.dtype)


def at_every_step(logits: Float[Array, " out"], mask: Bool[Array, " time"]) -> Float[Array, "time out"]:
    """Repeats one answer for the whole string at every step: training and evaluation read it at the last step."""
    return jnp.broadcast_to(logits, (len(mask), len(logits)))
