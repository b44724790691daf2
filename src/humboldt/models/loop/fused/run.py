"""The loop over time by the kernels, with its gradients."""

from functools import partial
from typing import Any

import jax
from jaxtyping import Array, Float, Int, PyTree

from humboldt.models.cells.base import AbstractCell, Extent
from humboldt.models.layers.linear import Linear
from humboldt.models.loop.fused.batching import backward, forward
from humboldt.models.loop.fused.parts import Kernel, parts_of


def run_fused(
    cell: AbstractCell,
    extent: Extent,
    vectors: Float[Array, "symbol in"],
    symbols: Int[Array, " time"],
    readout: Linear | None = None,
    *,
    keeps: bool = True,
) -> Float[Array, "time hidden_or_class"]:
    """Returns the outputs of a cell that starts from zeros, or an empty memory, and reads `vectors[symbols]`; with a
    readout that the kernel applies (see `Parts.reads_out`), what this layer makes of them.

    As in `unroll`, gradients take another path than values: the backward kernel gives the gradients of the drives and
    of the outputs of further layers, and those of all weights come from one product for all steps.

    **Arguments:**

    - `keeps`: whether gradients are wanted.
    """
    parts = parts_of(cell)
    assert parts is not None, "chosen for this cell"
    table, (kernel, string) = parts.table(vectors), parts.start(extent, symbols)
    weights, frozen = jax.tree.map(lambda x: jax.lax.stop_gradient(x)[None], (parts.weights(readout), table))
    results = forward(kernel, keeps=keeps)(weights, frozen, string[None, None])
    outputs, notes, residuals = jax.lax.stop_gradient(results)
    if keeps:
        again = parts.again(table, symbols, {name: note[0, 0] for name, note in notes.items()}, readout)
        outputs: Any = _with_gradient(kernel, outputs, (weights, residuals), again)
    return outputs[0, 0] if readout is None or readout.bias is None else outputs[0, 0] + readout.bias[None]


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _with_gradient(kernel: Kernel, outputs: Array, saved: PyTree, again: PyTree) -> Array:
    """Returns `outputs` as if computed from the drives and further outputs `again`."""
    del kernel, saved, again
    return outputs


def _forward(kernel: Kernel, outputs: Array, saved: PyTree, again: PyTree) -> tuple[Array, PyTree]:
    del kernel, again
    return outputs, (outputs, saved)


def _backward(kernel: Kernel, kept: PyTree, d_outputs: Array) -> tuple[None, None, PyTree]:
    outputs, (weights, residuals) = kept
    gradients = backward(kernel)(weights, residuals, outputs, d_outputs)
    return None, None, jax.tree.map(lambda x: x[0, 0], tuple(gradients))


_with_gradient.defvjp(_forward, _backward)
