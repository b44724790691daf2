"""The outputs of a cell that reads a string from its first state: what nearly all networks need of a loop over time."""

import jax
from jaxtyping import Array, Float, Int

from humboldt.models.cells.base import AbstractCell, Extent
from humboldt.models.layers.linear import Linear
from humboldt.models.loop.fused.choice import needs_gradients, why_scan, within_kernel
from humboldt.models.loop.fused.run import run_fused
from humboldt.models.loop.unroll import unroll_symbols


def outputs_of(
    cell: AbstractCell, extent: Extent, vectors: Float[Array, "symbol in"], symbols: Int[Array, " time"]
) -> Float[Array, "time hidden"]:
    """Returns the outputs of `cell` while it reads `vectors[symbols]` from its first state.

    On a GPU for which there are kernels, these run the loop for the cells and sizes that they know; everything else is
    a scan (`unroll_symbols`). Both give the same numbers up to rounding.
    """
    if why_scan(cell, vectors, len(symbols)):
        return unroll_symbols(cell, cell.init_state(extent), vectors, symbols)[1]
    return run_fused(cell, extent, vectors, symbols, keeps=needs_gradients())


def logits_of(
    cell: AbstractCell,
    readout: Linear,
    extent: Extent,
    vectors: Float[Array, "symbol in"],
    symbols: Int[Array, " time"],
    *,
    relu: bool = False,
) -> Float[Array, "time class"]:
    """Returns what `readout`, with a ReLU before it if `relu`, makes of `outputs_of` at every step.

    Where a kernel runs the loop, it may apply the readout, too: then the outputs are nowhere in memory.
    """
    if within_kernel(cell, readout, relu=relu) is None:
        outputs = outputs_of(cell, extent, vectors, symbols)
    elif why_scan(cell, vectors, len(symbols), readout):
        outputs = unroll_symbols(cell, cell.init_state(extent), vectors, symbols)[1]
    else:
        return run_fused(cell, extent, vectors, symbols, readout, keeps=needs_gradients())
    return jax.vmap(lambda hidden: read_out(readout, hidden, relu=relu))(outputs)


def read_out(readout: Linear, hidden: Float[Array, " hidden"], *, relu: bool) -> Float[Array, " class"]:
    """Returns the logits of one step."""
    return readout(jax.nn.relu(hidden) if relu else hidden)
