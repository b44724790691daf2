"""Counts the target symbols that the members of an ensemble get right."""

from collections.abc import Iterator

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, Key, PRNGKeyArray, PyTree

from humboldt.errors import UsageError
from humboldt.languages import Batch
from humboldt.models.loop.fused.choice import without_gradients
from humboldt.models.networks.base import AbstractStepwise
from humboldt.training.ensemble.members import over_members, pad_members

PAIRS_AT_ONCE = {"cpu": 2**22, "accelerator": 2**26}  # pairs of steps that attend to each other, in all rows together
BYTES_AT_ONCE = 2**31  # of the states, and of what is kept of all steps, of all rows that are read together
TIME_BUCKET = 128  # evaluation batches are padded to a multiple of this: few programs, and memories sized to fit


@eqx.filter_jit
def count_correct(
    weights: PyTree,
    static: PyTree,
    tokens: Int[Array, "batch time"],
    mask: Bool[Array, "batch time"],
    targets: Int[Array, "batch time"],
    target_mask: Bool[Array, "batch time"],
    num_steps: Int[Array, ""],
    own_answers_from: int | None = None,
    keys: Key[Array, " batch"] | None = None,
) -> Int[Array, "member batch"]:
    """Returns the number of correct target symbols of every row. All steps from `num_steps` on are padding.

    `own_answers_from` is for autoregressive models: after the first token of that id, each token is replaced by the
    model's previous answer. With `keys`, one for each row, dropout is on.
    """

    def stepwise(model: PyTree) -> Array:
        """Runs the time steps one after the other, for all rows or as many as fit into memory."""
        rows = tokens, mask, targets, target_mask, keys
        state = jax.eval_shape(model.start, tokens[0])
        size = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(state))
        together = _rows_together(len(tokens), num_members * size)
        if together == len(tokens):
            return step_rows(model, *rows)
        groups = jax.tree.map(lambda x: x.reshape(-1, together, *x.shape[1:]), rows)
        return jax.lax.map(lambda group: step_rows(model, *group), groups).reshape(-1)

    def step_rows(
        model: PyTree, tokens: Array, mask: Array, targets: Array, target_mask: Array, keys: Array | None
    ) -> Array:
        """Runs the steps before `num_steps`, without storing outputs."""

        def body(i: Array, carry: tuple[PyTree, Array, Array]) -> tuple[PyTree, Array, Array]:
            state, correct, said = carry
            token = tokens[:, i] if own_answers_from is None else jnp.where(i > begin, said, tokens[:, i])
            state, logits = jax.vmap(model.step)(state, token)
            said = logits.argmax(-1).astype(tokens.dtype)
            is_right = target_mask[:, i] & (said == targets[:, i])
            return state, correct + is_right.astype(jnp.int32), said

        begin = (tokens == (-1 if own_answers_from is None else own_answers_from)).argmax(1)
        zeros = jnp.zeros(len(tokens), jnp.int32)
        state = jax.vmap(model.start)(tokens, mask, keys)
        return jax.lax.fori_loop(0, num_steps, body, (state, zeros, zeros))[1]

    def at_once(model: PyTree, rows: int) -> Array:
        with without_gradients():
            logits = jax.lax.map(lambda row: model(*row[:2], key=row[2]), (tokens, mask, keys), batch_size=rows)
        return (target_mask & (logits.argmax(-1) == targets)).sum(1)

    def counted(weights: PyTree) -> Array:
        model = eqx.combine(weights, static)
        if not is_stepwise:
            return at_once(model, _rows_at_once(tokens, num_members))
        numbers = None if must_step else model.numbers_at_once(tokens[0])
        if numbers is not None:
            return at_once(model, _rows_together(len(tokens), num_members * 4 * numbers))
        return stepwise(model)

    # Stepwise networks run step by step where it is cheaper, or where they must.
    must_step = own_answers_from is not None
    can_step = isinstance(static, AbstractStepwise)
    if must_step and not can_step:
        raise UsageError(
            f"{type(static).__name__} cannot be fed its own answers (autoregressive=true): it does not read one token "
            "at a time. Derive it from `AbstractStepwise`, with `start` and `step`, or use autoregressive=false."
        )
    is_stepwise = can_step and (must_step or static.prefers_steps)
    num_members = jax.tree.leaves(weights)[0].shape[0] if jax.default_backend() != "cpu" else 1  # at the same time
    return over_members(counted, (0,))(weights)


def _rows_together(rows: int, size: int) -> int:
    """Returns how many of `rows` rows are read together: all, or a half, a quarter, ... if a row of `size` bytes is so
    large that they do not fit into memory."""
    while rows % 2 == 0 and rows * size > BYTES_AT_ONCE:
        rows //= 2
    return rows


def _rows_at_once(tokens: Int[Array, "batch time"], num_members: int) -> int:
    """Returns the number of rows that run at once: attention needs memory for every pair of steps. All groups are of
    about the same size."""
    room = PAIRS_AT_ONCE["cpu" if jax.default_backend() == "cpu" else "accelerator"]
    most = max(1, room // (num_members * tokens.shape[1] ** 2))
    return -(-len(tokens) // -(-len(tokens) // most))


def evaluate(
    weights: PyTree,
    static: PyTree,
    batches: Iterator[Batch],
    *,
    own_answers_from: int | None = None,
    dropout_key: PRNGKeyArray | None = None,
) -> Iterator[np.ndarray]:
    """Yields the correct target symbols per member and row, shape `(member, batch)`, for each batch.

    Batches should have the same number of rows, and rows of similar length. With a `dropout_key` dropout is on, the
    same for all members.
    """
    count = jax.tree.leaves(weights)[0].shape[0]
    surplus = pad_members(count) - count
    weights = jax.tree.map(lambda x: jnp.concatenate([x, *[x[-1:]] * surplus]), weights)
    for i, batch in enumerate(batches):
        num_steps = batch.time
        padded = batch.padded(-(-num_steps // TIME_BUCKET) * TIME_BUCKET)
        correct = count_correct(
            weights,
            static,
            jnp.asarray(padded.tokens),
            jnp.asarray(padded.mask),
            jnp.asarray(padded.targets),
            jnp.asarray(padded.target_mask),
            jnp.asarray(num_steps),
            own_answers_from,
            None if dropout_key is None else jax.random.split(jax.random.fold_in(dropout_key, i), len(batch.tokens)),
        )
        yield np.asarray(correct)[:count]
