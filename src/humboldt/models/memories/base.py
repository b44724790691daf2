"""What a memory is: anything that a controller can hold."""

from abc import abstractmethod
from functools import partial
from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array, Float

from humboldt.internals import Internal
from humboldt.models.cells.base import Extent

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

    @abstractmethod
    def internals(self, memories: Any, actions: Any) -> dict[str, Internal]:
        """What can be seen of the memories and actions of all steps, which have a leading axis of time."""
