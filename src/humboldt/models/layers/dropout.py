"""Dropout: on with a key, off without one."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray


def dropout(x: Float[Array, "..."], rate: float, key: PRNGKeyArray | None) -> Float[Array, "..."]:
    """Zeroes a share of the numbers and scales up the rest; without a key nothing is dropped."""
    if key is None or rate == 0:
        return x
    return jnp.where(jax.random.bernoulli(key, 1 - rate, x.shape), x / (1 - rate), 0.0)


def split_or_none(key: PRNGKeyArray | None, count: int) -> Any:
    """Returns `count` keys or, without a key, `count` times `None`: then there is no dropout."""
    return [None] * count if key is None else jax.random.split(key, count)
