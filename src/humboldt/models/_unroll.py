"""One cell over many time steps: the only loop over time that gradients go through."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from humboldt.models._cell import AbstractCell
from humboldt.models._linear import Linear

UNROLL = 4  # time steps per turn of the loop on an accelerator: fewer, longer runs of kernels


def unroll(
    cell: AbstractCell, state: PyTree, xs: Float[Array, "time in"], *, hoist: bool | None = None
) -> tuple[PyTree, Float[Array, "time hidden"]]:
    """Runs `cell` over time. Right padding needs no mask: an output never depends on what comes after it.

    **Arguments:**

    - `state`: from `cell.init_state`.
    - `xs`: the input of every step.
    - `hoist`: whether input projections and weight gradients are taken out of the loops. Inside, each is one small
      matrix product per time step, with a read and write of every weight for the gradient; outside, one large product
      for all steps. By default on everything but a CPU, where the small products stay in the cache and are the faster
      ones. The numbers are the same up to rounding.

    **Returns:** the last state and the output of every step.
    """
    if hoist is None:
        hoist = jax.default_backend() != "cpu"
    if not hoist:
        return jax.lax.scan(lambda state, x: cell(state, cell.project(x)), state, xs)
    arrays, static = eqx.partition(cell, eqx.is_array)
    return _hoisted(static, arrays, state, jax.vmap(cell.project)(xs))


def step_by_step(cell: AbstractCell, state: PyTree, xs: Float[Array, "time in"]) -> tuple[PyTree, Array]:
    """What `unroll` does, as a plain loop: the obvious form that tests hold it to."""
    outputs = []
    for x in xs:
        state, output = cell(state, cell.project(x))
        outputs.append(output)
    return state, jnp.stack(outputs)


class _Tapped(eqx.Module):
    """A linear layer that notes its input, adds `tap` to its output, and passes no gradient to its own weights.

    The gradient of `tap` is then the gradient of the layer's output, and the gradient of the weight is the sum over
    time of (input noted) x (gradient of the output): it can be taken after the loop. A layer whose output joins the
    drive needs no tap of its own: the drive is one.
    """

    layer: Linear
    tap: Float[Array, " out"] | None
    index: int = eqx.field(static=True)
    notes: dict[int, Any] = eqx.field(static=True)

    def __call__(self, x: Float[Array, " in"]) -> Float[Array, " out"]:
        if self.index in self.notes:
            raise RuntimeError("A cell may use each of its linear layers once per step.")
        self.notes[self.index] = x
        y = jax.lax.stop_gradient(self.layer)(x)
        return y if self.tap is None else y + self.tap


def _is_linear(node: Any) -> bool:
    return isinstance(node, Linear)


def linears(cell: PyTree) -> list[Linear]:
    """All linear layers of a cell, in the order of its leaves."""
    return [node for node in jax.tree.leaves(cell, is_leaf=_is_linear) if _is_linear(node)]


Taps = dict[int, Array]  # by the layer's place in `linears(cell)`


def tapped_step(cell: AbstractCell, state: PyTree, taps: Taps, drive: Array) -> tuple[PyTree, Array, Taps]:
    """One step with `taps` on the outputs of some layers; also what each layer that was used noted."""
    notes: Taps = {}
    counter = iter(range(len(linears(cell))))

    def wrap(node: Any) -> Any:
        if not _is_linear(node):
            return node
        index = next(counter)
        return _Tapped(node, taps.get(index), index, notes)

    tapped = jax.tree.map(wrap, cell, is_leaf=_is_linear)
    state, output = tapped(state, drive)
    return state, output, notes


def _forward(
    static: AbstractCell, arrays: PyTree, state: PyTree, drives: Array
) -> tuple[tuple[PyTree, Array], tuple[Any, Taps]]:
    cell = eqx.combine(arrays, static)
    # Which layers a step uses: those that only `project` uses have no part in the loop.
    _, _, used = jax.eval_shape(lambda state, drive: tapped_step(cell, state, {}, drive), state, drives[0])
    taps = {
        index: jnp.zeros((drives.shape[0], layer.weight.shape[1]), drives.dtype)
        for index, layer in enumerate(linears(cell))
        if index in used and not layer.joins_drive
    }

    def run(arrays: PyTree, state: PyTree, drives: Array, taps: Taps) -> tuple[Any, Taps]:
        cell = eqx.combine(arrays, static)

        def step(state: PyTree, inputs: tuple[Array, Taps]) -> tuple[PyTree, tuple[Array, Taps]]:
            drive, tap = inputs
            state, output, notes = tapped_step(cell, state, tap, drive)
            return state, (output, notes)

        last, (outputs, notes) = jax.lax.scan(step, state, (drives, taps), unroll=UNROLL)
        return (last, outputs), notes

    results, backward, notes = jax.vjp(run, arrays, state, drives, taps, has_aux=True)
    return results, (backward, notes)


def _backward(static: AbstractCell, residuals: tuple[Any, Taps], cotangents: Any) -> tuple[Any, ...]:
    del static
    backward, notes = residuals
    d_arrays, d_state, d_drives, d_taps = backward(cotangents)
    return weight_gradients(d_arrays, notes, d_drives, d_taps), d_state, d_drives


def weight_gradients(d_arrays: PyTree, notes: Taps, d_drives: Float[Array, "time drive"], d_taps: Taps) -> PyTree:
    """The gradient of a cell: `d_arrays` with those of the linear layers put in, from what they noted."""
    counter = iter(range(len(linears(d_arrays))))

    def hoisted(node: Any) -> Any:
        if not _is_linear(node):
            return node
        index = next(counter)
        if index not in notes:
            return node
        d_output = d_drives if node.joins_drive else d_taps[index]
        weight = jnp.einsum("ti,to->io", notes[index], d_output)
        bias = None if node.bias is None else d_output.sum(0)
        return eqx.tree_at(lambda n: (n.weight, n.bias), node, (weight, bias), is_leaf=lambda x: x is None)

    return jax.tree.map(hoisted, d_arrays, is_leaf=_is_linear)


_hoisted = jax.custom_vjp(lambda static, arrays, state, drives: _forward(static, arrays, state, drives)[0], (0,))
_hoisted.defvjp(_forward, _backward)
