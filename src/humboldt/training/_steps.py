"""The compiled part of training: many steps of all members in one call."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, PyTree

from humboldt.training._members import over_members
from humboldt.training._recipe import Recipe


class Learners(NamedTuple):
    """Everything about the members that training changes. Every array has a leading axis of members."""

    weights: PyTree
    optimiser: PyTree
    diverged_at: Int[Array, " member"]  # the step whose loss or gradient was not finite; -1 while all is well


class Knobs(NamedTuple):
    """Numbers that may differ between members."""

    learning_rate: Float[Array, " member"]
    l1: Float[Array, " member"]
    l2: Float[Array, " member"]
    key: PRNGKeyArray  # for dropout, shape (member,)


class Chunk(NamedTuple):
    """Consecutive batches, padded to the same time. `bucket` says how much of the time each one really needs."""

    step: Int[Array, " step"]
    bucket: Int[Array, " step"]
    tokens: Int[Array, "step batch time"]
    mask: Bool[Array, "step batch time"]
    targets: Int[Array, "step batch target_time"]
    target_mask: Bool[Array, "step batch target_time"]
    weight: Float[Array, "step batch"]


class Curve(NamedTuple):
    """What training looked like, one value per step (or per chunk, averaged)."""

    loss: Float[Array, "*members step"]
    accuracy: Float[Array, "*members step"]


def example_loss(
    logits: Float[Array, "time out"], targets: Int[Array, " time"], mask: Bool[Array, " time"]
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """Cross-entropy in nats and share of correct symbols of one example, both means over the symbols that count."""
    log_probabilities = jax.nn.log_softmax(logits.astype(jnp.float32))
    nats = -jnp.take_along_axis(log_probabilities, targets[:, None], 1)[:, 0]
    count = jnp.maximum(mask.sum(), 1).astype(nats.dtype)
    total = jnp.where(mask, nats, 0.0).sum()
    correct = (mask & (logits.argmax(-1) == targets)).sum().astype(nats.dtype) / count
    return total / count, correct


def train_step(
    static: PyTree, recipe: Recipe, learner: Learners, knobs: Knobs, batch: Chunk
) -> tuple[Learners, tuple[Array, Array]]:
    """One step of one member on one batch."""

    def loss_of(weights: PyTree) -> tuple[Array, tuple[Array, Array]]:
        model = eqx.combine(jax.tree.map(lambda w: w.astype(recipe.precision), weights), static)
        keys = jax.random.split(jax.random.fold_in(knobs.key, batch.step), len(batch.tokens))
        logits = jax.vmap(lambda tokens, mask, key: model(tokens, mask, key=key))(batch.tokens, batch.mask, keys)
        losses, corrects = jax.vmap(example_loss)(logits, batch.targets, batch.target_mask)
        share = batch.weight / batch.weight.sum()
        loss, accuracy = (share * losses).sum(), (share * corrects).sum()
        leaves = jax.tree.leaves(weights)
        penalty = knobs.l1 * sum(jnp.abs(x).sum() for x in leaves) + knobs.l2 * sum((x**2).sum() for x in leaves)
        return loss + penalty, (loss, accuracy)

    (_, (loss, accuracy)), gradient = jax.value_and_grad(loss_of, has_aux=True)(learner.weights)
    with jax.numpy_dtype_promotion("standard"):  # Optax mixes types; our own code does not
        updates, optimiser = recipe.transformation().update(gradient, learner.optimiser, learner.weights)
    weights = jax.tree.map(lambda w, u: w - knobs.learning_rate * u, learner.weights, updates)

    finite = jnp.isfinite(loss) & jnp.isfinite(optax.tree.norm(gradient))
    alive = (learner.diverged_at < 0) & finite
    diverged_at = jnp.where((learner.diverged_at < 0) & ~finite, batch.step, learner.diverged_at)
    # A diverged member keeps its last good weights and is not touched again.
    weights, optimiser = jax.tree.map(
        lambda new, old: jnp.where(alive, new, old), (weights, optimiser), (learner.weights, learner.optimiser)
    )
    return Learners(weights, optimiser, diverged_at), (loss, accuracy)


class Work(NamedTuple):
    """What training does not change: the model's fixed part, the recipe, the members' numbers, the data."""

    static: PyTree
    recipe: Recipe
    buckets: tuple[int, ...]
    knobs: Knobs
    chunk: Chunk


@eqx.filter_jit(donate="all-except-first")
def train_chunk(work: Work, learners: Learners) -> tuple[Learners, Curve]:
    """All steps of a chunk, all members, one program; the memory of `learners` is used again for the result.

    Every batch of a chunk has the same padded shape, but a short batch only runs the time steps of its bucket: the
    buckets are branches of one compiled program, so no length ever causes a compilation. `bucket == len(buckets)`
    marks filling at the end of the last chunk, which does nothing.
    """
    static, recipe, buckets, knobs, chunk = work

    def member(learner: Learners, knobs: Knobs, chunk: Chunk) -> tuple[Learners, Curve]:
        def step(learner: Learners, batch: Chunk) -> tuple[Learners, Any]:
            def at(time: int) -> Any:
                def branch(learner: Learners, batch: Chunk) -> Any:
                    short = batch._replace(
                        tokens=batch.tokens[:, :time],
                        mask=batch.mask[:, :time],
                        targets=batch.targets[:, :time],
                        target_mask=batch.target_mask[:, :time],
                    )
                    return train_step(static, recipe, learner, knobs, short)

                return branch

            def nothing(learner: Learners, batch: Chunk) -> Any:
                del batch
                return learner, (jnp.nan, jnp.nan)

            return jax.lax.switch(batch.bucket, [*map(at, buckets), nothing], learner, batch)

        learner, (loss, accuracy) = jax.lax.scan(step, learner, chunk)
        return learner, Curve(loss, accuracy)

    return over_members(member, (0, 0, None))(learners, knobs, chunk)
