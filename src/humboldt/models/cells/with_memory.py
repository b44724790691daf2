"""Cells that hold a memory, which the controller reads and changes at every step."""

from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array, Float, PRNGKeyArray

from humboldt.core.internals import Internal
from humboldt.models.cells.base import AbstractCell, AbstractController, Extent
from humboldt.models.cells.lstm import normal_lstm_cell
from humboldt.models.cells.rnn import normal_rnn_cell
from humboldt.models.layers.linear import Linear, uniform_linear
from humboldt.models.memories.base import AbstractMemory
from humboldt.models.zoo.shared.recurrent import ControllerName


class AbstractMemoryCell(AbstractCell):
    """A controller with a memory. The state is the controller's state and the memory."""

    controller: eqx.AbstractVar[AbstractController]
    reading: eqx.AbstractVar[Linear]
    memory: eqx.AbstractVar[AbstractMemory]

    def project(self, x: Float[Array, " in"]) -> Float[Array, " drive"]:
        return self.controller.project(x)

    def init_state(self, extent: Extent) -> tuple[Any, Any]:
        return self.controller.init_state(extent), self.memory.init(extent)

    def internals(self, states: Any, outputs: Float[Array, "time hidden"]) -> dict[str, Internal]:
        inner, memories = states
        actions = jax.vmap(self.memory.actions)(outputs)
        return {**self.controller.internals(inner, outputs), **self.memory.internals(memories, actions)}


class MemoryCell(AbstractMemoryCell):
    """The controller receives its input and the reading as one input."""

    controller: AbstractController
    reading: Linear
    memory: AbstractMemory

    def __call__(self, state: Any, drive: Float[Array, " drive"]) -> tuple[Any, Float[Array, " hidden"]]:
        inner, memory = state
        read = self.memory.read(memory).astype(drive.dtype)  # a memory may be more precise than the network
        inner, hidden = self.controller(inner, drive + self.reading(read))
        return (inner, self.memory.act(memory, self.memory.actions(hidden))), hidden


def normal_memory_cell(
    controller_name: ControllerName,
    memory: AbstractMemory,
    input_size: int,
    hidden_size: int,
    *,
    k_controller: PRNGKeyArray,
    k_reading: PRNGKeyArray,
) -> MemoryCell:
    """Builds a memory cell initialised as in the released code of Delétang et al. (2023).

    Input and reading are one input there, so both are counted in `fan_in`.
    """
    fan_in = input_size + memory.read_size
    if controller_name == "rnn":
        controller = normal_rnn_cell(input_size, hidden_size, activation="relu", fan_in=fan_in, key=k_controller)
    else:
        fan_in += hidden_size
        controller = normal_lstm_cell(input_size, hidden_size, fan_in=fan_in, key=k_controller)
    reading = Linear(
        memory.read_size, controller.drive_size, use_bias=False, fan_in=fan_in, joins_drive=True, key=k_reading
    )
    return MemoryCell(controller, reading, memory)


class MarnnCell(AbstractMemoryCell):
    """The reading `r` is added to the hidden state: `h~ = h + W r + b` replaces `h`.

    The memory-augmented networks of Suzgun et al. (2019).
    """

    controller: AbstractController
    reading: Linear
    memory: AbstractMemory

    def __call__(self, state: Any, drive: Float[Array, " drive"]) -> tuple[Any, Float[Array, " hidden"]]:
        (hidden, *rest), memory = state
        inner = (hidden + self.reading(self.memory.read(memory)), *rest)
        inner, hidden = self.controller(inner, drive)
        return (inner, self.memory.act(memory, self.memory.actions(hidden))), hidden


def uniform_marnn_cell(controller: AbstractController, memory: AbstractMemory, *, key: PRNGKeyArray) -> MarnnCell:
    """Builds a cell whose layer on the reading is initialised as in PyTorch."""
    return MarnnCell(controller, uniform_linear(memory.read_size, controller.hidden_size, key=key), memory)
