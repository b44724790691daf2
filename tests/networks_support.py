"""What the tests of networks share: a plain training loop for one network."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from humboldt.languages import Batch


def train(network: Any, batch: Callable[[int], Batch], *, steps: int, learning_rate: float) -> tuple[Any, np.ndarray]:
    """The network after that many steps of Adam, and its accuracy at each. Batches are padded to the longest."""
    batches = [batch(step) for step in range(steps)]
    time = max(batch.time for batch in batches)
    names = ("tokens", "mask", "targets", "target_mask")
    data = {name: jnp.stack([getattr(batch.padded(time), name) for batch in batches]) for name in names}
    optimiser = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(learning_rate))
    weights, static = eqx.partition(network, eqx.is_inexact_array)

    def loss(weights: Any, data: dict[str, jax.Array], key: jax.Array) -> tuple[jax.Array, jax.Array]:
        keys = jax.random.split(key, len(data["tokens"]))
        model = eqx.combine(weights, static)
        logits = jax.vmap(lambda tokens, mask, key: model(tokens, mask, key=key))(data["tokens"], data["mask"], keys)
        nats = optax.softmax_cross_entropy_with_integer_labels(logits, data["targets"])
        is_right = (logits.argmax(-1) == data["targets"]).astype(jnp.float32)
        count = data["target_mask"].sum(dtype=jnp.float32)
        mean_nats, accuracy = (jnp.where(data["target_mask"], x, 0.0).sum() / count for x in (nats, is_right))
        return mean_nats, accuracy

    def step(carry: Any, inputs: Any) -> tuple[Any, jax.Array]:
        weights, state = carry
        gradient, accuracy = jax.grad(loss, has_aux=True)(weights, *inputs)
        updates, state = optimiser.update(gradient, state, weights)
        return (optax.apply_updates(weights, updates), state), accuracy

    keys = jax.random.split(jax.random.key(1), steps)
    run = jax.jit(lambda weights: jax.lax.scan(step, (weights, optimiser.init(weights)), (data, keys)))
    with jax.numpy_dtype_promotion("standard"):  # Optax mixes types
        (weights, _), accuracy = run(weights)
    return eqx.combine(weights, static), np.asarray(accuracy)
