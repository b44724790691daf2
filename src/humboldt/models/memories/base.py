"""The base class of memories that a controller can hold."""

from abc import abstractmethod
from functools import partial
from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array, Float

from humboldt.core.internals import Internal
from humboldt.models.cells.base import Extent

#: For functions that move a memory: only the memory before the move is saved for gradients, and the moves are computed
#: again, which is faster than writing and reading several moved copies of the memory at every step.
recomputed = partial(jax.checkpoint, prevent_cse=False)


class AbstractMemory(eqx.Module):
    """A differentiable memory. No weight depends on its size, which `init` chooses for every run."""

    read_size: eqx.AbstractVar[int]

    @abstractmethod
    def init(self, extent: Extent) -> Any:
        """Returns an empty memory, large enough for `extent.num_steps` steps."""

    @abstractmethod
    def read(self, memory: Any) -> Float[Array, " read"]:
        """Returns the reading that the controller receives."""

    @abstractmethod
    def actions(self, hidden: Float[Array, " hidden"]) -> Any:
        """Returns the actions of the controller: probabilities and values to write."""

    @abstractmethod
    def act(self, memory: Any, actions: Any) -> Any:
        """Returns the memory after the actions."""

    @abstractmethod
    def internals(self, memories: Any, actions: Any) -> dict[str, Internal]:
        """Returns the inspectable arrays by name. `memories` and `actions` have a leading axis of time."""
