"""One cell over many time steps: the only loop over time that gradients go through."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from humboldt.models._cell import AbstractCell
from humboldt.models._linear import Linear


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
    time of (gradient of the output) x (input noted): it can be taken after the loop.
    """

    layer: Linear
    tap: Float[Array, " out"]
    index: int = eqx.field(static=True)
    notes: dict[int, Any] = eqx.field(static=True)

    def __call__(self, x: Float[Array, " in"]) -> Float[Array, " out"]:
        if self.index in self.notes:
            raise RuntimeError("A cell may use each of its linear layers once per step.")
        self.notes[self.index] = x
        return jax.lax.stop_gradient(self.layer)(x) + self.tap


def _is_linear(node: Any) -> bool:
    return isinstance(node, Linear)


def _linears(cell: PyTree) -> list[Linear]:
    return [node for node in jax.tree.leaves(cell, is_leaf=_is_linear) if _is_linear(node)]


def _tapped_step(cell: AbstractCell, state: PyTree, taps: list[Array], drive: Array) -> tuple[PyTree, Array, list[Any]]:
    notes: dict[int, Any] = {}
    counter = iter(range(len(taps)))

    def wrap(node: Any) -> Any:
        if not _is_linear(node):
            return node
        index = next(counter)
        return _Tapped(node, taps[index], index, notes)

    tapped = jax.tree.map(wrap, cell, is_leaf=_is_linear)
    state, output = tapped(state, drive)
    # A layer that the step leaves alone has no gradient: a zero input says so.
    unused = [jnp.zeros(layer.weight.shape[0]) for layer in _linears(cell)]
    return state, output, [notes.get(index, unused[index]) for index in range(len(taps))]


def _forward(
    static: AbstractCell, arrays: PyTree, state: PyTree, drives: Array
) -> tuple[tuple[PyTree, Array], tuple[Any, list[Any], PyTree]]:
    cell = eqx.combine(arrays, static)
    num_steps = drives.shape[0]
    taps = [jnp.zeros((num_steps, layer.weight.shape[1])) for layer in _linears(cell)]

    def run(arrays: PyTree, state: PyTree, drives: Array, taps: list[Array]) -> tuple[Any, list[Any]]:
        cell = eqx.combine(arrays, static)

        def step(state: PyTree, inputs: tuple[Array, list[Array]]) -> tuple[PyTree, tuple[Array, list[Any]]]:
            drive, tap = inputs
            state, output, notes = _tapped_step(cell, state, tap, drive)
            return state, (output, notes)

        last, (outputs, notes) = jax.lax.scan(step, state, (drives, taps))
        return (last, outputs), notes

    results, backward, notes = jax.vjp(run, arrays, state, drives, taps, has_aux=True)
    return results, (backward, notes, arrays)


def _backward(static: AbstractCell, residuals: tuple[Any, list[Any], PyTree], cotangents: Any) -> tuple[Any, ...]:
    backward, notes, arrays = residuals
    d_arrays, d_state, d_drives, d_taps = backward(cotangents)
    gradients = iter(zip(d_taps, notes, strict=True))

    def hoisted(node: Any) -> Any:
        if not _is_linear(node):
            return node
        d_output, inputs = next(gradients)
        weight = jnp.einsum("ti,to->io", inputs, d_output)
        bias = None if node.bias is None else d_output.sum(0)
        return eqx.tree_at(lambda n: (n.weight, n.bias), node, (weight, bias), is_leaf=lambda x: x is None)

    del arrays, static
    return jax.tree.map(hoisted, d_arrays, is_leaf=_is_linear), d_state, d_drives


_hoisted = jax.custom_vjp(lambda static, arrays, state, drives: _forward(static, arrays, state, drives)[0], (0,))
_hoisted.defvjp(_forward, _backward)
