"""The outputs of a cell that reads a string from its first state: what nearly all networks need of a loop over time."""

from jaxtyping import Array, Float, Int

from humboldt.models.cells.base import AbstractCell, Extent
from humboldt.models.loop.fused.choice import needs_gradients, why_scan
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
