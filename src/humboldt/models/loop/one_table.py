"""The loop over time for the nondeterministic stack, whose table is too large to be kept for every step."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from humboldt.models.cells.base import AbstractCell
from humboldt.models.loop.taps import Taps, linears, tapped_step, weight_gradients
from humboldt.models.loop.unroll import must_be_plain, unroll
from humboldt.models.memories.ndstack import AbstractTable, Stacks, Table, d_popped


def unroll_over_one_table(
    cell: AbstractCell, state: PyTree, xs: Float[Array, "time in"]
) -> Float[Array, "time hidden"]:
    """Returns the outputs of `unroll` for a cell that holds an `NDStack`, with memory for one table, not one per step.

    The backward pass of a loop needs the state before every step. But a table changes only by appending, so that the
    last table can be used for all steps. Also, no product is added to the gradient of the whole table at every step:
    the two factors are saved, and those for the nodes of one time are multiplied when the backward pass reaches that
    time. No gradient goes to `state`.
    """
    if must_be_plain():
        return unroll(cell, state, xs)[1]
    arrays, static = eqx.partition(cell, eqx.is_array)
    return _over_one_table(static, arrays, jax.lax.stop_gradient(state), jax.vmap(cell.project)(xs))


class _Noting(AbstractTable):
    """A table that records the arguments and results of a step's calls."""

    table: AbstractTable
    notes: dict[str, Array] = eqx.field(static=True)

    def uncover(self, popped: Array) -> Array:
        self.notes["popped"], self.notes["uncovered"] = popped, self.table.uncover(popped)
        return self.notes["uncovered"]

    def append(self, time: Array, latest: Array) -> AbstractTable:
        self.notes["latest"] = latest
        return self.table.append(time, latest)


class _Last(AbstractTable):
    """The last table in place of an earlier one, with the recorded result of `uncover`.

    It has nodes that the earlier table did not have, but nothing is uncovered there.
    """

    table: Table
    uncovered: Float[Array, "symbol state time state symbol"]

    def uncover(self, popped: Array) -> Array:
        return _recall(self.table.below, popped, self.uncovered)

    def append(self, time: Array, latest: Array) -> "_Last":
        del time, latest
        return self


@jax.custom_vjp
def _recall(below: Array, popped: Array, uncovered: Array) -> Array:
    """Returns the recorded value of `_uncover(below, popped)`. Gradients go to it and `popped`, not to the table."""
    del below, popped
    return uncovered


_recall.defvjp(
    lambda below, popped, uncovered: (uncovered, below),
    lambda below, d_uncovered: (jnp.zeros_like(below), d_popped(below, d_uncovered), d_uncovered),
)


def _forward(static: AbstractCell, arrays: PyTree, state: PyTree, drives: Array) -> tuple[Array, PyTree]:
    cell = eqx.combine(arrays, static)

    def step(state: PyTree, drive: Array) -> tuple[PyTree, tuple[Array, PyTree, Array, Array]]:
        notes: dict[str, Array] = {}
        inner, stacks = state
        before = inner, stacks._replace(table=None)
        state, output = cell((inner, stacks._replace(table=_Noting(stacks.table, notes))), drive)
        return state, (output, before, notes["popped"], notes["uncovered"])

    (_, last), (outputs, *residuals) = jax.lax.scan(step, state, drives)
    return outputs, (arrays, drives, last.table, *residuals)


def _backward(static: AbstractCell, residuals: PyTree, d_outputs: Array) -> tuple[Any, ...]:
    arrays, drives, table, befores, popped, uncovered = residuals
    cell = eqx.combine(arrays, static)
    num_steps, symbols, states, times = popped.shape[:4]
    weights = {i: layer.weight for i, layer in enumerate(linears(cell)) if not layer.joins_drive}
    taps = {i: jnp.zeros(weight.shape[1], weight.dtype) for i, weight in weights.items()}
    # Groups the nodes of one time; the last axis is (step, new state), over which the large product below sums.
    popped = jnp.einsum("tyrku->ykutr", popped).reshape(symbols, times, states, -1)

    def step(carry: PyTree, inputs: PyTree) -> tuple[PyTree, PyTree]:
        d_after, all_d_uncovered = carry
        (inner, stacks), uncovered, drive, d_output = inputs

        def replay(inner: PyTree, weights: PyTree, uncovered: Array, taps: Taps, drive: Array) -> Any:
            record: dict[str, Array] = {}
            before = stacks._replace(**weights, table=_Noting(_Last(table, uncovered), record))
            (inner, after), output, notes = tapped_step(cell, (inner, before), taps, drive)
            return ((inner, _weights(after)), output, record["latest"]), notes

        # The gradient from later steps to the nodes that this step appends.
        on_latest = jax.lax.dynamic_index_in_dim(popped, stacks.time + 1, 1, keepdims=False)
        d_latest = jnp.matmul(on_latest, all_d_uncovered).reshape(uncovered.shape)
        _, pull, notes = jax.vjp(replay, inner, _weights(stacks), uncovered, taps, drive, has_aux=True)
        d_inner, d_weights, d_uncovered, d_taps, d_drive = pull((d_after, d_output, d_latest))
        rows = d_uncovered.reshape(symbols, states, -1)
        all_d_uncovered = jax.lax.dynamic_update_slice_in_dim(all_d_uncovered, rows, stacks.time * states, 1)
        return ((d_inner, d_weights), all_d_uncovered), (d_taps, notes, d_drive)

    inner, stacks = jax.tree.map(lambda leaf: jnp.zeros_like(leaf[0]), befores)
    start = (inner, _weights(stacks)), jnp.zeros((symbols, num_steps * states, times * states * symbols))
    inputs = befores, uncovered, drives, d_outputs
    _, (d_taps, notes, d_drives) = jax.lax.scan(step, start, inputs, reverse=True)
    # All weights are in linear layers, and their gradients are computed from `d_taps` and `notes`.
    return weight_gradients(jax.tree.map(jnp.zeros_like, arrays), notes, d_drives, d_taps), None, d_drives


def _weights(stacks: Stacks) -> dict[str, Array]:
    """Returns the arrays that gradients go through, except the table."""
    return {"now": stacks.now, "top": stacks.top, "log_weight": stacks.log_weight}


_over_one_table = jax.custom_vjp(lambda static, arrays, state, drives: _forward(static, arrays, state, drives)[0], (0,))
_over_one_table.defvjp(_forward, _backward)
