"""Runs one cell over many time steps: the only loop over time that gradients go through."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PyTree

from humboldt.models.cells.base import AbstractCell
from humboldt.models.layers.linear import SMALL_TABLE, look_up
from humboldt.models.loop.taps import Taps, is_linear, linears, tapped_step

UNROLL = 4  # time steps per turn of the loop on an accelerator: fewer, longer runs of kernels

_form: ContextVar[Literal["quickest", "hoisted", "plain"]] = ContextVar("form of the loop", default="quickest")


@contextmanager
def loop_form(form: Literal["hoisted", "plain"]) -> Iterator[None]:
    """Sets the form of all loops traced inside the context; outside, it is the fastest form on this machine."""
    token = _form.set(form)
    try:
        yield
    finally:
        _form.reset(token)


def must_be_plain() -> bool:
    """Returns whether gradients are taken by automatic differentiation of the plain loop."""
    return _form.get() == "plain"


def is_form_set() -> bool:
    """Returns whether the form of loops is set, so that it is not chosen."""
    return _form.get() != "quickest"


def unroll(
    cell: AbstractCell, state: PyTree, xs: Float[Array, "time in"], *, hoist: bool | None = None
) -> tuple[PyTree, Float[Array, "time hidden"]]:
    """Runs `cell` over time. Right padding needs no mask: an output never depends on what comes after it.

    **Arguments:**

    - `state`: from `cell.init_state`.
    - `xs`: the input of every step.
    - `hoist`: whether input projections and weight gradients are taken out of the loops. Inside, each is one small
      matrix product per time step, with a read and write of every weight for the gradient; outside, one large product
      for all steps. By default on everything but a CPU, where the small products stay in the cache and are faster. The
      numbers are the same up to rounding.

    **Returns:** the last state and the output of every step.
    """
    if not _hoists(hoist):
        return jax.lax.scan(lambda state, x: cell(state, cell.project(x)), state, xs)
    return _hoisted(cell, state, jax.vmap(cell.project)(xs), None)


def unroll_symbols(
    cell: AbstractCell,
    state: PyTree,
    vectors: Float[Array, "symbol in"],
    symbols: Int[Array, " time"],
    *,
    hoist: bool | None = None,
) -> tuple[PyTree, Float[Array, "time hidden"]]:
    """Returns `unroll(cell, state, vectors[symbols])`, faster where the alphabet is small.

    Then each symbol is projected once and looked up at every step, instead of being projected at each occurrence: the
    projected inputs of all steps are the largest array of a small network's training.
    """
    if not _hoists(hoist) or len(vectors) > SMALL_TABLE:
        return unroll(cell, state, look_up(vectors, symbols), hoist=hoist)
    return _hoisted(cell, state, jax.vmap(cell.project)(vectors), symbols)


def _hoists(asked: bool | None) -> bool:
    if asked is not None:
        return asked
    return _form.get() == "hoisted" or (_form.get() == "quickest" and jax.default_backend() != "cpu")


def step_by_step(cell: AbstractCell, state: PyTree, xs: Float[Array, "time in"]) -> tuple[PyTree, Array]:
    """Runs `unroll` as a plain Python loop: the obvious form that tests compare it with."""
    outputs = []
    for x in xs:
        state, output = cell(state, cell.project(x))
        outputs.append(output)
    return state, jnp.stack(outputs)


def _hoisted(
    cell: AbstractCell, state: PyTree, drives: Float[Array, "time_or_symbol drive"], symbols: Array | None
) -> tuple[PyTree, Float[Array, "time hidden"]]:
    """Runs the loop. `drives` has a row for every step or, with `symbols`, for every symbol of the alphabet.

    Gradients take another path than values. The loop itself is run with weights that get no gradient, but with taps
    (see `tapped_step`). Then every layer is applied once more, to all steps at once: the values are unused, so no
    compiled program computes them, but through them the gradients of the taps become those of the weights. (A custom
    VJP for the whole loop would be more direct but, vmapped over examples, would compute a weight gradient for each
    example, and add up gigabytes of them.)
    """
    layers, notes_of = linears(cell), _Notes(cell, state, drives[0])
    num_steps = len(drives if symbols is None else symbols)
    taps = {index: jnp.zeros((num_steps, size), drives.dtype) for index, size in notes_of.tap_sizes.items()}
    # Where the drive is looked up, its tap is an array of zeros that all examples and members share.
    at_each_step = drives if symbols is None else jnp.zeros((num_steps, drives.shape[1]), drives.dtype)
    others, fixed = eqx.partition(cell, jax.tree.map(_is_no_layer, cell, is_leaf=is_linear))

    def run(others: PyTree, state: PyTree, at_each_step: Array, taps: Taps) -> tuple[Any, Taps]:
        cell = eqx.combine(others, jax.lax.stop_gradient(fixed))

        def step(state: PyTree, inputs: tuple[Array, Array | None, Taps]) -> tuple[PyTree, tuple[Array, Taps]]:
            drive, symbol, tap = inputs
            if symbol is not None:
                table = jax.lax.stop_gradient(drives)
                drive = drive + table.at[symbol].get(mode="promise_in_bounds")
            state, output, notes = tapped_step(cell, state, tap, drive)
            return state, (output, notes_of.to_keep(notes))

        last, (outputs, kept) = jax.lax.scan(step, state, (at_each_step, symbols, taps), unroll=UNROLL)
        return (last, outputs), kept

    results, backward, kept = jax.vjp(run, *jax.lax.stop_gradient((others, state, at_each_step, taps)), has_aux=True)
    notes = jax.lax.stop_gradient(notes_of.all(kept, state, results[1]))

    at_each_step = drives if symbols is None else look_up(drives, symbols)
    for index, note in notes.items():
        output = jax.vmap(layers[index])(note)
        if index in taps:
            taps[index] = output
        else:
            at_each_step = at_each_step + output
    return _with_gradient(results, backward, (others, state, at_each_step, taps))


def _with_gradient(results: PyTree, backward: Any, inputs: tuple[PyTree, ...]) -> PyTree:
    """Returns `results` as if computed from `inputs` by a function whose backward pass is `backward`."""
    saved, structure = jax.tree.flatten(backward)

    @jax.custom_vjp
    def link(results: PyTree, saved: list[Array], inputs: tuple[PyTree, ...]) -> PyTree:
        del saved, inputs
        return results

    link.defvjp(
        lambda results, saved, inputs: (results, saved),
        lambda saved, cotangents: (None, None, structure.unflatten(saved)(cotangents)),
    )
    return link(jax.lax.stop_gradient(results), saved, inputs)


def _is_no_layer(node: Any) -> bool:
    return eqx.is_inexact_array(node) and not is_linear(node)


class _Notes:
    """The recorded inputs of the layers of a cell (see `tapped_step`), and which of them must be saved.

    Most of them are the output of the step, or of the step before, which are saved anyway.
    """

    tap_sizes: dict[int, int]  # the output size of each layer whose output does not join the drive

    def __init__(self, cell: AbstractCell, state: PyTree, drive: Array) -> None:
        self._is_output: set[int] = set()
        self._is_output_before: dict[int, int] = {}  # to the leaf of the state that passes it to the next step

        def look(state: PyTree, drive: Array) -> Taps:
            after, output, notes = tapped_step(cell, state, {}, drive)
            leaves = list(zip(jax.tree.leaves(state), jax.tree.leaves(after), strict=True))
            for index, note in notes.items():
                if note is output:
                    self._is_output.add(index)
                for k, (old, new) in enumerate(leaves):
                    if note is old and new is output:
                        self._is_output_before[index] = k
            return notes

        # Only layers that a step calls: those that only `project` calls are not part of the loop.
        used = jax.eval_shape(look, state, drive)
        layers = {index: layer for index, layer in enumerate(linears(cell)) if index in used}
        self.tap_sizes = {index: layer.weight.shape[1] for index, layer in layers.items() if not layer.joins_drive}

    def to_keep(self, notes: Taps) -> Taps:
        """Returns the notes that cannot be recovered from the outputs."""
        return {k: note for k, note in notes.items() if k not in self._is_output and k not in self._is_output_before}

    def all(self, kept: Taps, state: PyTree, outputs: Float[Array, "time hidden"]) -> Taps:
        """Returns all notes of all steps, from the first state, the saved notes and the outputs."""
        notes = dict(kept) | dict.fromkeys(self._is_output, outputs)
        for index, k in self._is_output_before.items():
            notes[index] = jnp.concatenate([jax.tree.leaves(state)[k][None], outputs[:-1]])
        return notes
