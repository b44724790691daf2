"""Steppers: run trained networks for the measures of BLISS, one symbol in every row at a time.

A test set has up to 5 * 10^7 distinct prefixes, and the number of rows changes at almost every step, so that a program
compiled for each shape would be compiled very often. The networks of the paper are therefore implemented once more, in
NumPy and Numba, and a test compares them with the originals. Any other network is run by JAX: one token at a time if it
has `start` and `step` and is faster this way (`prefers_steps`), otherwise whole strings, whose logits at every step
answer for all prefixes.
"""

from typing import Any

import jax
import jax.numpy as jnp

from humboldt.core.stepping import STATE_BYTES
from humboldt.errors import UsageError
from humboldt.models.cells.lstm import LSTMCell
from humboldt.models.cells.with_memory import MarnnCell
from humboldt.models.networks.base import AbstractStepwise
from humboldt.models.networks.recurrent import RecurrentNetwork
from humboldt.models.stepping.arrays import as_array
from humboldt.models.stepping.jax_stepper import JaxStepper, Padded, string_reader
from humboldt.models.stepping.lstm import LSTMStepper
from humboldt.models.stepping.marnn import MarnnStepper, can_step

PAIRS_AT_ONCE = 2**24  # of steps that attend to each other, in all rows of a network that reads whole strings
ROWS_AT_ONCE, SYMBOLS_AT_ONCE = 4_096, 2**22
MEMORY_BYTES = 4_000_000  # of all rows together, so that they stay in the cache between two steps


def make_stepper(network: Any, longest: int, most_cells: int) -> tuple[Any, int]:
    """Returns a stepper for strings of up to `longest` symbols, and the number of rows to give it at once.

    **Arguments:**

    - `most_cells`: the largest size of a memory in the test, whatever its size in training.
    """
    if isinstance(network, RecurrentNetwork) and not network.relu_readout:
        cell = network.cell
        if isinstance(cell, LSTMCell):
            vectors = None if network.embedding is None else as_array(network.embedding.weight)
            return LSTMStepper(cell, network.readout, vectors), 16_384
        if isinstance(cell, MarnnCell) and can_step(cell) and network.embedding is None:
            stepper = MarnnStepper(cell, network.readout, longest, most_cells)
            return stepper, max(16, MEMORY_BYTES // (8 * stepper.width))
    if isinstance(network, AbstractStepwise) and network.prefers_steps:
        rows = _rows(network, longest)
        return Padded(JaxStepper(network, longest), smallest=min(64, rows)), rows
    # Of all rows the probabilities are kept, the others of what is read are not.
    return string_reader(network, PAIRS_AT_ONCE), min(ROWS_AT_ONCE, max(1, SYMBOLS_AT_ONCE // (longest + 1)))


def _rows(network: AbstractStepwise, longest: int) -> int:
    """Returns how many rows step together: a power of two, so that their states fit `STATE_BYTES`."""
    state = jax.eval_shape(lambda: network.start(jnp.zeros(longest + 1, jnp.int32)))
    size = max(1, sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(state)))
    if size > STATE_BYTES:
        raise UsageError(
            f"One string of {longest:,} symbols needs a state of {size / 2**30:,.1f} GB, and there is room for "
            f"{STATE_BYTES / 2**30:g} GB. This network cannot be read symbol by symbol on strings of this length."
        )
    return min(ROWS_AT_ONCE, 1 << ((STATE_BYTES // size).bit_length() - 1))
