"""Trained networks as the measures of BLISS read them: one symbol in every row at a time.

A test set has up to 5 * 10^7 distinct prefixes, and the number of rows changes at almost every step, which a program
compiled for each shape does not like. So the networks of the paper are written out once more, in NumPy and Numba, and a
test holds them to the originals. Any other network that can be given one token at a time is run by JAX.
"""

from typing import Any

from humboldt.errors import UsageError
from humboldt.models.cells.lstm import LSTMCell
from humboldt.models.cells.with_memory import MarnnCell
from humboldt.models.networks.base import AbstractStepwise
from humboldt.models.networks.recurrent import RecurrentNetwork
from humboldt.models.stepping.jax_stepper import JaxStepper, Padded
from humboldt.models.stepping.lstm import LSTMStepper
from humboldt.models.stepping.marnn import MarnnStepper, can_step

MEMORY_BYTES = 4_000_000  # of all rows together, so that they stay in the cache between two steps


def make_stepper(network: Any, longest: int, most_cells: int) -> tuple[Any, int]:
    """A stepper for strings of up to `longest` symbols, and how many rows it should be given at once.

    **Arguments:**

    - `most_cells`: how large a memory may be in the test, whatever it was in training.
    """
    if isinstance(network, RecurrentNetwork) and not network.relu_readout:
        cell = network.cell
        if isinstance(cell, LSTMCell):
            return LSTMStepper(cell, network.readout), 16_384
        if isinstance(cell, MarnnCell) and can_step(cell):
            stepper = MarnnStepper(cell, network.readout, longest, most_cells)
            return stepper, max(16, MEMORY_BYTES // (8 * stepper.width))
    if isinstance(network, AbstractStepwise):
        return Padded(JaxStepper(network, longest)), 4_096
    raise UsageError(
        f"{type(network).__name__} cannot be read one symbol at a time, which these measures need. Derive it from "
        "`humboldt.models.networks.base.AbstractStepwise`, with `start` and `step`."
    )
