"""The Softmax Stack-LSTM of Suzgun et al. (2019), as Lan et al. (2023) train it."""

from typing import TYPE_CHECKING, Any, ClassVar

from humboldt.models import models
from humboldt.models.zoo.shared.marnn import AbstractMarnn
from humboldt.settings import setting, settings

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from humboldt.models.cells.lstm import LSTMCell
    from humboldt.models.memories.marnn import PushPopStack


@models.register("marnn_stack_lstm", version=2)
@settings
class MarnnStackLSTM(AbstractMarnn):
    """An LSTM that pushes to and pops from a stack, and a linear readout."""

    stack_size: int = setting(100, "cells of the stack", "appendix A.3: 50 or 100 in training", least=1)

    title: ClassVar[str] = "Stack-LSTM (MARNN)"
    family: ClassVar[str] = "Stack-LSTM"
    tiny: ClassVar[dict[str, Any]] = {"hidden_size": 6, "memory_size": 3, "stack_size": 12}

    def make_controller(self, input_size: int, key: "PRNGKeyArray") -> "LSTMCell":
        """Builds the controller, freshly initialised."""
        import jax

        from humboldt.models.cells.lstm import uniform_lstm_cell

        return uniform_lstm_cell(input_size, self.hidden_size, keys=jax.random.split(key))

    def make_memory(self, key: "PRNGKeyArray") -> "PushPopStack":
        """Builds the memory, freshly initialised."""
        from humboldt.models.memories.marnn import PushPopStack

        return PushPopStack(self.hidden_size, cell_size=self.memory_size, most_cells=self.stack_size, key=key)
