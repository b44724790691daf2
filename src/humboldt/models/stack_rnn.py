"""The Stack-RNN of Delétang et al. (2023)."""

from dataclasses import dataclass

import jax
from jaxtyping import PRNGKeyArray

from humboldt.models import models
from humboldt.models._controllers import Controller, make_controller
from humboldt.models._linear import Linear
from humboldt.models._memory import MemoryCell
from humboldt.models._recurrent import RecurrentModel
from humboldt.models._stack import Stack


@models.register("stack_rnn", version=1)
@dataclass(frozen=True, kw_only=True)
class StackRNN:
    """An RNN (or LSTM) that holds a stack, and a linear readout."""

    hidden_size: int = 256  # appendix A.2
    cell_size: int = 8  # appendix A.2
    num_stacks: int = 1  # released code
    controller: Controller = "rnn"
    relu_readout: bool = False  # released code: true. added later: stays out of the identity at its default

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: PRNGKeyArray) -> RecurrentModel:
        """The network, freshly initialised."""
        k_controller, k_memory, k_reading, k_readout = jax.random.split(key, 4)
        stack = Stack(self.hidden_size, cell_size=self.cell_size, num_stacks=self.num_stacks, key=k_memory)
        controller, drive_size, fan_in = make_controller(
            self.controller, input_size, self.hidden_size, read_size=stack.read_size, key=k_controller
        )
        cell = MemoryCell(controller, stack, drive_size=drive_size, fan_in=fan_in, key=k_reading)
        readout = Linear(self.hidden_size, output_size, key=k_readout)
        return RecurrentModel(cell, readout, input_size, num_symbols, self.relu_readout)
