"""The Softmax Baby-NTM of Suzgun et al. (2019), as Lan et al. (2023) train it."""

from dataclasses import dataclass

import jax
from jaxtyping import PRNGKeyArray

from humboldt.models import models
from humboldt.models._marnn import MarnnCell, RotatingTape
from humboldt.models._recurrent import RecurrentModel
from humboldt.models._uniform import UniformRNNCell, uniform_linear


@models.register("baby_ntm", version=1)
@dataclass(frozen=True, kw_only=True)
class BabyNTM:
    """An RNN that turns and writes a ring of memory, and a linear readout."""

    hidden_size: int = 8  # appendix A.3
    memory_size: int = 5  # appendix A.3, "memory dimension"
    tape_size: int = 2050  # appendix A.3, in training and in tests

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: PRNGKeyArray) -> RecurrentModel:
        """The network, freshly initialised."""
        k_controller, k_memory, k_reading, k_readout = jax.random.split(key, 4)
        memory = RotatingTape(self.hidden_size, cell_size=self.memory_size, most_cells=self.tape_size, key=k_memory)
        controller = UniformRNNCell(input_size, self.hidden_size, key=k_controller)
        readout = uniform_linear(self.hidden_size, output_size, key=k_readout)
        return RecurrentModel(MarnnCell(controller, memory, key=k_reading), readout, input_size, num_symbols)
