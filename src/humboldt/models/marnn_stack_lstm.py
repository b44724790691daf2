"""The Softmax Stack-LSTM of Suzgun et al. (2019), as Lan et al. (2023) train it."""

from typing import TYPE_CHECKING, Any, ClassVar

from humboldt.models import models
from humboldt.models.options.marnn import AbstractMarnn
from humboldt.settings import setting, settings

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from humboldt.models.networks.recurrent import RecurrentNetwork


@models.register("marnn_stack_lstm", version=2)
@settings
class MarnnStackLSTM(AbstractMarnn):
    """An LSTM that pushes to and pops from a stack, and a linear readout."""

    stack_size: int = setting(100, "cells of the stack", "appendix A.3: 50 or 100 in training", least=1)

    title: ClassVar[str] = "Stack-LSTM (MARNN)"
    tiny: ClassVar[dict[str, Any]] = {"hidden_size": 6, "memory_size": 3, "stack_size": 12}

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: "PRNGKeyArray") -> "RecurrentNetwork":
        """The network, freshly initialised."""
        import jax

        from humboldt.models.cells.lstm import uniform_lstm_cell
        from humboldt.models.cells.with_memory import uniform_marnn_cell
        from humboldt.models.layers.linear import uniform_linear
        from humboldt.models.memories.marnn import PushPopStack
        from humboldt.models.networks.recurrent import RecurrentNetwork

        k_controller, k_memory, k_reading, k_readout = jax.random.split(key, 4)
        memory = PushPopStack(self.hidden_size, cell_size=self.memory_size, most_cells=self.stack_size, key=k_memory)
        controller = uniform_lstm_cell(input_size, self.hidden_size, keys=jax.random.split(k_controller))
        cell = uniform_marnn_cell(controller, memory, key=k_reading)
        readout = uniform_linear(self.hidden_size, output_size, key=k_readout)
        return RecurrentNetwork(cell, readout, input_size, num_symbols)
