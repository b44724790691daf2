"""Memory that any controller can hold: it reads, decides, and writes at every step."""

from abc import abstractmethod
from functools import partial
from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array, Float, PRNGKeyArray

from humboldt.models._cell import AbstractCell, Extent
from humboldt.models._linear import Linear

#: For functions that move a memory: of them only the memory before is kept for gradients, and what was moved where is
#: worked out again, which is quicker than to write and read several moved copies of it at every step.
recomputed = partial(jax.checkpoint, prevent_cse=False)


class AbstractMemory(eqx.Module):
    """A differentiable memory. Its size is not a weight: it is chosen for every run by `init`."""

    read_size: eqx.AbstractVar[int]

    @abstractmethod
    def init(self, extent: Extent) -> Any:
        """An empty memory, large enough for `extent.num_steps` steps."""

    @abstractmethod
    def read(self, memory: Any) -> Float[Array, " read"]:
        """What the controller sees of it."""

    @abstractmethod
    def actions(self, hidden: Float[Array, " hidden"]) -> Any:
        """What the controller decides to do: probabilities and values to write."""

    @abstractmethod
    def act(self, memory: Any, actions: Any) -> Any:
        """The memory afterwards."""


class AbstractMemoryCell(AbstractCell):
    """A controller with a memory. The state is the controller's state and the memory."""

    controller: eqx.AbstractVar[AbstractCell]
    memory: eqx.AbstractVar[AbstractMemory]

    def project(self, x: Float[Array, " in"]) -> Float[Array, " drive"]:
        return self.controller.project(x)

    def init_state(self, extent: Extent) -> tuple[Any, Any]:
        return self.controller.init_state(extent), self.memory.init(extent)


class MemoryCell(AbstractMemoryCell):
    """The controller sees its input and what it reads, as one input."""

    controller: AbstractCell
    reading: Linear
    memory: AbstractMemory

    def __init__(
        self, controller: AbstractCell, memory: AbstractMemory, *, drive_size: int, fan_in: int, key: PRNGKeyArray
    ) -> None:
        self.controller = controller
        self.memory = memory
        self.reading = Linear(memory.read_size, drive_size, use_bias=False, fan_in=fan_in, joins_drive=True, key=key)

    def __call__(self, state: Any, drive: Float[Array, " drive"]) -> tuple[Any, Float[Array, " hidden"]]:
        inner, memory = state
        read = self.memory.read(memory).astype(drive.dtype)  # a memory may be more precise than the network
        inner, hidden = self.controller(inner, drive + self.reading(read))
        return (inner, self.memory.act(memory, self.memory.actions(hidden))), hidden
