"""The Softmax Baby-NTM of Suzgun et al. (2019), as Lan et al. (2023) train it."""

from typing import TYPE_CHECKING, Any, ClassVar

from humboldt.models import models
from humboldt.models.options.marnn import AbstractMarnn
from humboldt.settings import setting, settings

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from humboldt.models.networks.recurrent import RecurrentNetwork


@models.register("baby_ntm", version=1)
@settings
class BabyNTM(AbstractMarnn):
    """An RNN that turns and writes a ring of memory, and a linear readout."""

    tape_size: int = setting(2050, "cells of the ring", "appendix A.3, in training and in tests", least=1)

    title: ClassVar[str] = "Baby-NTM"
    tiny: ClassVar[dict[str, Any]] = {"hidden_size": 6, "memory_size": 3, "tape_size": 14}

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: "PRNGKeyArray") -> "RecurrentNetwork":
        """The network, freshly initialised."""
        import jax

        from humboldt.models.cells.rnn import uniform_rnn_cell
        from humboldt.models.cells.with_memory import uniform_marnn_cell
        from humboldt.models.layers.linear import uniform_linear
        from humboldt.models.memories.marnn import RotatingTape
        from humboldt.models.networks.recurrent import RecurrentNetwork

        k_controller, k_memory, k_reading, k_readout = jax.random.split(key, 4)
        memory = RotatingTape(self.hidden_size, cell_size=self.memory_size, most_cells=self.tape_size, key=k_memory)
        controller = uniform_rnn_cell(input_size, self.hidden_size, key=k_controller)
        cell = uniform_marnn_cell(controller, memory, key=k_reading)
        readout = uniform_linear(self.hidden_size, output_size, key=k_readout)
        return RecurrentNetwork(cell, readout, input_size, num_symbols)
