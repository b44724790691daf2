"""The Softmax Stack-LSTM of Suzgun et al. (2019), as Lan et al. (2023) train it."""

from dataclasses import dataclass

import jax
from jaxtyping import PRNGKeyArray

from humboldt.models import models
from humboldt.models._marnn import MarnnCell, PushPopStack
from humboldt.models._recurrent import RecurrentModel
from humboldt.models._uniform import UniformLSTMCell, uniform_linear


@models.register("marnn_stack_lstm", version=1)
@dataclass(frozen=True, kw_only=True)
class MarnnStackLSTM:
    """An LSTM that pushes to and pops from a stack, and a linear readout."""

    hidden_size: int = 8  # appendix A.3
    memory_size: int = 5  # appendix A.3, "memory dimension"
    stack_size: int = 100  # appendix A.3: 50 or 100 in training

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: PRNGKeyArray) -> RecurrentModel:
        """The network, freshly initialised."""
        k_controller, k_memory, k_reading, k_readout = jax.random.split(key, 4)
        memory = PushPopStack(self.hidden_size, cell_size=self.memory_size, most_cells=self.stack_size, key=k_memory)
        controller = UniformLSTMCell(input_size, self.hidden_size, key=k_controller)
        readout = uniform_linear(self.hidden_size, output_size, key=k_readout)
        return RecurrentModel(MarnnCell(controller, memory, key=k_reading), readout, input_size, num_symbols)
