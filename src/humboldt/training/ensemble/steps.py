"""The compiled part of training: many steps of all members in one call."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int, Key, PyTree

from humboldt.models.layers.linear import Linear, with_products_in
from humboldt.training.base import Precision, Recipe, Schedule
from humboldt.training.ensemble.heads import loss_of_heads
from humboldt.training.ensemble.members import over_members


class Learners(NamedTuple):
    """Everything about the members that training changes. Every array has a leading axis of members."""

    weights: PyTree
    optimiser: PyTree
    diverged_at: Int[Array, " member"]  # the step whose loss or gradient was not finite; -1 if there is none


class MemberValues(NamedTuple):
    """Numbers that may differ between members."""

    learning_rate: Float[Array, " member"]
    l1: Float[Array, " member"]
    l2: Float[Array, " member"]
    key: Key[Array, " member"]  # for dropout


class Clock(NamedTuple):
    """The steps of a chunk. `bucket` gives the padded time that each batch needs."""

    step: Int[Array, " step"]
    bucket: Int[Array, " step"]


class Examples(NamedTuple):
    """Consecutive batches, padded to the same time. If members have different examples, every array begins with an axis
    of members."""

    tokens: Int[Array, "*member step batch time"]
    mask: Bool[Array, "*member step batch time"]
    targets: Int[Array, "*member step batch target_time"]
    target_mask: Bool[Array, "*member step batch target_time"]
    weight: Float[Array, "*member step batch"]


class Chunk(NamedTuple):
    """The data of one call of the compiled program."""

    clock: Clock
    examples: Examples


class Curve(NamedTuple):
    """The course of training, one value per step (or per chunk, averaged)."""

    loss: Float[Array, "*members step"]
    accuracy: Float[Array, "*members step"]


def told_before(targets: Int[Array, " time"], start: int) -> Int[Array, " time"]:
    """Returns decoder inputs: the targets shifted right by one, after `start`."""
    return jnp.concatenate([jnp.full(1, start, targets.dtype), targets[:-1]])


def nats_per_symbol(logits: Float[Array, "time out"], targets: Int[Array, " time"]) -> Float[Array, " time"]:
    """Returns minus the log-probability of each target."""
    log_probabilities = jax.nn.log_softmax(logits.astype(jnp.float32))
    return -jnp.take_along_axis(log_probabilities, targets[:, None], 1)[:, 0]


def likeliest(logits: Float[Array, "time out"]) -> Int[Array, " time"]:
    """Returns the first of the symbols with the largest logit.

    On an accelerator two plain reductions replace XLA's `argmax`, which is slow there. If a logit is NaN, they give the
    number of symbols, which is not the id of any symbol.
    """
    if jax.default_backend() == "cpu":
        return logits.argmax(-1)
    is_largest = logits == logits.max(-1, keepdims=True)
    return jnp.where(is_largest, jnp.arange(logits.shape[-1]), logits.shape[-1]).min(-1)


def example_loss(
    logits: Float[Array, "time out"], targets: Int[Array, " time"], mask: Bool[Array, " time"], reduction: str
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """Returns cross-entropy in nats (mean or sum) and share of correct symbols of one example, over the unmasked
    symbols."""
    nats = nats_per_symbol(logits, targets)
    count = jnp.maximum(mask.sum(), 1).astype(nats.dtype)
    total = jnp.where(mask, nats, 0.0).sum()
    correct = (mask & (likeliest(logits) == targets)).sum().astype(nats.dtype) / count
    return (total / count if reduction == "mean" else total), correct


def transformation(recipe: Recipe) -> optax.GradientTransformation:
    """Returns the optimiser, without the learning rate, which differs between members, and without the sign."""
    clip = optax.identity() if recipe.gradient_clip is None else optax.clip_by_global_norm(recipe.gradient_clip)
    first, second = recipe.betas
    momentum = optax.trace(recipe.momentum, recipe.nesterov) if recipe.momentum else optax.identity()
    scale = momentum if recipe.optimiser == "sgd" else optax.scale_by_adam(first, second)
    decay = optax.add_decayed_weights(recipe.weight_decay) if recipe.optimiser == "adamw" else optax.identity()
    return optax.chain(clip, scale, decay)


def learning_rate_factor(schedule: Schedule, step: Int[Array, ""]) -> Float[Array, ""]:
    """Returns the factor on the learning rate in step number `step` (counted from 0)."""
    done = (step + schedule.first).astype(jnp.float32)
    rising = schedule.start + (1 - schedule.start) * done / schedule.warm_up
    falling = (
        jnp.sqrt(schedule.warm_up / jnp.maximum(done, 1))
        if schedule.decay == "inverse_square_root"
        else jnp.ones_like(done)
    )
    if schedule.decay == "cosine":
        share = (done - schedule.warm_up) / max(1, schedule.last - schedule.warm_up)
        falling = 0.5 * (1 + jnp.cos(jnp.pi * jnp.clip(share, 0.0, 1.0)))
    return jnp.where(done < schedule.warm_up, rising, falling)


def all_logits(
    model: PyTree, batch: Examples, start: int | None, keys: Key[Array, " batch"] | None
) -> Float[Array, "batch target_time out"]:
    """Returns logits for every row of a batch. With `start`, the model is a sequence-to-sequence model, whose decoder
    reads the targets shifted by one."""
    if start is None:
        return jax.vmap(lambda tokens, mask, key: model(tokens, mask, key=key))(batch.tokens, batch.mask, keys)

    def of_row(tokens: Array, mask: Array, targets: Array, target_mask: Array, key: Any) -> Array:
        return model(tokens, mask, told_before(targets, start), target_mask, key=key)

    return jax.vmap(of_row)(batch.tokens, batch.mask, batch.targets, batch.target_mask, keys)


def _answers(
    model: PyTree, recipe: Recipe, batch: Examples, start: int | None, keys: Key[Array, " batch"]
) -> tuple[Float[Array, "batch target_time out"], Int[Array, "batch target_time"], Any]:
    """Returns the logits of the answers, their targets, and the loss of further heads, if there are any."""
    if recipe.heads is None:
        return all_logits(model, batch, start, keys), batch.targets, None
    outputs = all_logits(model.network, batch, start, keys)
    targets = jnp.where(batch.target_mask, batch.targets, 0)
    return outputs[..., : recipe.heads.answers], targets, loss_of_heads(recipe.heads, outputs, batch)


def in_precision(weights: PyTree, precision: Precision) -> PyTree:
    """Returns the weights in the precision of the network's arithmetic."""
    if precision != "bfloat16_products":
        return jax.tree.map(lambda w: w.astype(precision), weights)

    def rounded(node: Any) -> Any:
        return with_products_in(node, jnp.bfloat16) if isinstance(node, Linear) else node

    return jax.tree.map(rounded, weights, is_leaf=lambda node: isinstance(node, Linear))


def gradient_of(
    work: "Work", weights: PyTree, values: MemberValues, step: Int[Array, ""], batch: Examples
) -> tuple[PyTree, tuple[Array, Array]]:
    """Returns the gradient of one member's loss on one batch, and loss and accuracy."""
    static, recipe = work.static, work.recipe

    def loss_of(weights: PyTree) -> tuple[Array, tuple[Array, Array]]:
        model = eqx.combine(in_precision(weights, recipe.precision), static)
        keys = jax.random.split(jax.random.fold_in(values.key, step), len(batch.tokens))
        logits, targets, further = _answers(model, recipe, batch, work.start, keys)
        losses, corrects = jax.vmap(example_loss, (0, 0, 0, None))(logits, targets, batch.target_mask, recipe.loss)
        share = batch.weight / batch.weight.sum()
        accuracy = (share * corrects).sum()
        if recipe.loss == "pooled":
            share = batch.weight / (batch.weight * batch.target_mask.sum(1).astype(batch.weight.dtype)).sum()
        loss = (share * losses).sum() + further if recipe.heads else (share * losses).sum()
        leaves = jax.tree.leaves(weights)
        penalty = values.l1 * sum(jnp.abs(x).sum() for x in leaves) + values.l2 * sum((x**2).sum() for x in leaves)
        return loss + penalty, (loss, accuracy)

    (_, results), gradient = jax.value_and_grad(loss_of, has_aux=True)(weights)
    return gradient, results


def moved(
    work: "Work", learner: Learners, values: MemberValues, step: Int[Array, ""], gradient: PyTree, loss: Array
) -> Learners:
    """Returns one member after a step of its optimiser."""
    recipe = work.recipe
    with jax.numpy_dtype_promotion("standard"):  # Optax mixes types; our own code does not
        updates, optimiser = transformation(recipe).update(gradient, learner.optimiser, learner.weights)
    rate = values.learning_rate
    if recipe.schedule is not None:
        rate = rate * learning_rate_factor(recipe.schedule, recipe.step_of_schedule(step))
    weights = jax.tree.map(lambda w, u: w - rate * u, learner.weights, updates)

    finite = jnp.isfinite(loss) & jnp.isfinite(optax.tree.norm(gradient))
    alive = (learner.diverged_at < 0) & finite
    diverged_at = jnp.where((learner.diverged_at < 0) & ~finite, step, learner.diverged_at)
    # A diverged member keeps its last finite weights and is not changed again.
    weights, optimiser = jax.tree.map(
        lambda new, old: jnp.where(alive, new, old), (weights, optimiser), (learner.weights, learner.optimiser)
    )
    return Learners(weights, optimiser, diverged_at)


def train_step(
    work: "Work", learner: Learners, values: MemberValues, step: Int[Array, ""], batch: Examples
) -> tuple[Learners, tuple[Array, Array]]:
    """Does one step of one member on one batch; returns the member, and loss and accuracy."""
    gradient, (loss, accuracy) = gradient_of(work, learner.weights, values, step, batch)
    return moved(work, learner, values, step, gradient, loss), (loss, accuracy)


class Work(NamedTuple):
    """The constants of a training: the model's fixed part, the recipe, the members' numbers, the data."""

    static: PyTree
    recipe: Recipe
    buckets: tuple[tuple[int, int], ...]  # padded lengths of sources and of targets
    rows: tuple[int | None, ...]  # of each bucket, those of a batch that can count; None: all
    start: int | None  # first decoder input of a sequence-to-sequence model
    has_own_examples: bool
    has_one_batch: bool  # the arrays of `chunk.examples` then have no axis of steps
    values: MemberValues
    chunk: Chunk


@eqx.filter_jit(donate="all-except-first")
def train_chunk(work: Work, learners: Learners) -> tuple[Learners, Curve]:
    """Does all steps of a chunk for all members in one program; reuses the memory of `learners` for the result.

    Every batch of a chunk has the same padded shape, but a short batch only runs the time steps of its bucket: the
    buckets are branches of one compiled program, so no length ever causes a compilation. `bucket == len(buckets)`
    marks filling at the end of a chunk, which does nothing.

    On an accelerator a branch gives the gradient only, and the optimiser comes after it: what a branch returns lies in
    new memory, from which weights and what optimisers remember of them would be copied back at every step.
    """
    is_on_cpu = jax.default_backend() == "cpu"

    def member(learner: Learners, values: MemberValues, clock: Clock, examples: Examples) -> tuple[Learners, Curve]:
        def step(learner: Learners, inputs: tuple[Clock, Examples | None]) -> tuple[Learners, Any]:
            now, batch = inputs
            batch = examples if batch is None else batch

            def at(lengths: tuple[int, int], rows: int | None) -> Any:
                time, target_time = lengths

                def branch(learner: Learners, batch: Examples) -> tuple[PyTree, tuple[Any, Any]]:
                    short = batch._replace(
                        tokens=batch.tokens[:rows, :time],
                        mask=batch.mask[:rows, :time],
                        targets=batch.targets[:rows, :target_time],
                        target_mask=batch.target_mask[:rows, :target_time],
                        weight=batch.weight[:rows],
                    )
                    if is_on_cpu:
                        return train_step(work, learner, values, now.step, short)
                    return gradient_of(work, learner.weights, values, now.step, short)

                return branch

            def nothing(learner: Learners, batch: Examples) -> tuple[PyTree, tuple[Any, Any]]:
                del batch
                found = learner if is_on_cpu else jax.tree.map(jnp.zeros_like, learner.weights)
                return found, (jnp.nan, jnp.nan)

            branches = [*map(at, work.buckets, work.rows), nothing]
            found, (loss, accuracy) = jax.lax.switch(now.bucket, branches, learner, batch)
            if is_on_cpu:
                return found, (loss, accuracy)
            after, is_step = moved(work, learner, values, now.step, found, loss), now.bucket < len(work.buckets)
            return jax.tree.map(lambda new, old: jnp.where(is_step, new, old), after, learner), (loss, accuracy)

        learner, (loss, accuracy) = jax.lax.scan(step, learner, (clock, None if work.has_one_batch else examples))
        return learner, Curve(loss, accuracy)

    axes = (0, 0, None, 0 if work.has_own_examples else None)
    return over_members(member, axes)(learners, work.values, work.chunk.clock, work.chunk.examples)
