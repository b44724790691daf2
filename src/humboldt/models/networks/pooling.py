"""From one vector per token to one answer per string."""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float


def at_last(values: Float[Array, "time hidden"], mask: Bool[Array, " time"]) -> Float[Array, " hidden"]:
    """The row of the last real step. A sum with one term: its gradient needs no scatter."""
    is_last = mask & ~jnp.concatenate([mask[1:], jnp.zeros(1, bool)])
    return jnp.where(is_last[:, None], values, 0.0).sum(0)


def mean_of_real(values: Float[Array, "time hidden"], mask: Bool[Array, " time"]) -> Float[Array, " hidden"]:
    """The mean of the rows of all real steps."""
    return jnp.where(mask[:, None], values, 0.0).sum(0) / jnp.maximum(mask.sum(), 1).astype(values.dtype)


def at_every_step(logits: Float[Array, " out"], mask: Bool[Array, " time"]) -> Float[Array, "time out"]:
    """One answer for the whole string, given at every step: training and evaluation read it at the last one."""
    return jnp.broadcast_to(logits, (len(mask), len(logits)))
