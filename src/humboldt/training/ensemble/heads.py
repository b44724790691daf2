"""The losses of further outputs: which symbol comes next, and which ones could."""

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from humboldt.training.base import Heads

if TYPE_CHECKING:
    from humboldt.training.ensemble.steps import Examples


def loss_of_heads(heads: Heads, outputs: Float[Array, "batch time out"], batch: "Examples") -> Float[Array, ""]:
    """Returns the weighted sum of the further losses of a batch: each the mean over the symbols of a string, then over
    the strings of class 1; 0 if there are none."""
    answer = jnp.where(batch.target_mask, batch.targets, 0).sum(1)
    symbols = batch.mask & ~batch.target_mask & (answer == 1)[:, None]
    weight = batch.weight * symbols.any(1).astype(batch.weight.dtype)
    share = weight / jnp.maximum(weight.sum(), jnp.finfo(weight.dtype).tiny)
    count, first, total = heads.symbols + 1, heads.answers, jnp.zeros((), jnp.float32)

    def mean(nats: Float[Array, "batch time"]) -> Float[Array, ""]:
        lengths = jnp.maximum(symbols.sum(1), 1).astype(nats.dtype)
        return (share * jnp.where(symbols, nats, 0.0).sum(1) / lengths).sum()

    if heads.next_symbol:
        following = jnp.roll(batch.tokens, -1, axis=1)  # the last one is never used: it follows the mark
        logits = jax.nn.log_softmax(outputs[..., first : first + count].astype(jnp.float32))
        total += heads.next_symbol * mean(-jnp.take_along_axis(logits, following[..., None], 2)[..., 0])
        first += count
    if heads.next_set:
        logits = outputs[..., first : first + count].astype(jnp.float32)
        possible = ((batch.targets[..., None] >> jnp.arange(count)[None, None]) & 1).astype(jnp.float32)
        total += heads.next_set * mean(optax.sigmoid_binary_cross_entropy(logits, possible).mean(-1))
    return total
