"""Taps on the linear layers of a cell: with them the gradients of all weights can be taken after the loop over time."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from humboldt.errors import UsageError
from humboldt.models.cells.base import AbstractCell
from humboldt.models.layers.linear import Linear

Taps = dict[int, Array]  # by the layer's place in `linears(cell)`


class _Tapped(eqx.Module):
    """A linear layer that records its input, adds `tap` to its output, and passes no gradient to its own weights.

    The gradient of `tap` is then the gradient of the layer's output, and the gradient of the weight is the sum over
    time of (recorded input) x (gradient of the output): it can be computed after the loop. A layer whose output joins
    the drive needs no tap: the drive serves as one.
    """

    layer: Linear
    tap: Float[Array, " out"] | None
    index: int = eqx.field(static=True)
    notes: dict[int, Any] = eqx.field(static=True)

    def __call__(self, x: Float[Array, " in"]) -> Float[Array, " out"]:
        if self.index in self.notes:
            raise UsageError(
                f"A linear layer ({self._size}) is called twice in one step of a cell. Each may be called once: its "
                "gradient is taken for all steps together. Give the cell a second layer."
            )
        self.notes[self.index] = x
        y = jax.lax.stop_gradient(self.layer)(x)
        return y if self.tap is None else y + self.tap

    @property
    def weight(self) -> Array:
        raise UsageError(
            f"A cell uses an array of a linear layer ({self._size}) in a step: it would get no gradient. Call the "
            "layer, `layer(x)`, or hold the array itself instead of a `Linear`."
        )

    bias = weight

    @property
    def _size(self) -> str:
        return "x".join(map(str, self.layer.weight.shape))


def is_linear(node: Any) -> bool:
    """Returns whether a node of a tree is a linear layer."""
    return isinstance(node, Linear)


def linears(cell: PyTree) -> list[Linear]:
    """Returns all linear layers of a cell, in the order of its leaves."""
    return [node for node in jax.tree.leaves(cell, is_leaf=is_linear) if is_linear(node)]


def tapped_step(cell: AbstractCell, state: PyTree, taps: Taps, drive: Array) -> tuple[PyTree, Array, Taps]:
    """Takes one step with `taps` on the outputs of some layers.

    **Returns:** the new state, the output, and the recorded input of each layer that was called.
    """
    notes: Taps = {}
    counter = iter(range(len(linears(cell))))

    def wrap(node: Any) -> Any:
        if not is_linear(node):
            return node
        index = next(counter)
        return _Tapped(node, taps.get(index), index, notes)

    tapped = jax.tree.map(wrap, cell, is_leaf=is_linear)
    state, output = tapped(state, drive)
    return state, output, notes


def weight_gradients(d_arrays: PyTree, notes: Taps, d_drives: Float[Array, "time drive"], d_taps: Taps) -> PyTree:
    """Returns the gradient of a cell: `d_arrays` with the gradients of linear layers, from their recorded inputs."""
    counter = iter(range(len(linears(d_arrays))))

    def hoisted(node: Any) -> Any:
        if not is_linear(node):
            return node
        index = next(counter)
        if index not in notes:
            return node
        d_output = d_drives if node.joins_drive else d_taps[index]
        weight = jnp.einsum("ti,to->io", notes[index], d_output)
        bias = None if node.bias is None else d_output.sum(0)
        return eqx.tree_at(lambda n: (n.weight, n.bias), node, (weight, bias), is_leaf=lambda x: x is None)

    return jax.tree.map(hoisted, d_arrays, is_leaf=is_linear)
