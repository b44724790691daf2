"""The memories of Suzgun et al. (2019): a stack without a NO-OP, and a ring."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from humboldt.core.internals import TIME, Internal
from humboldt.models.cells.base import Extent
from humboldt.models.layers.linear import Linear, uniform_linear
from humboldt.models.memories.base import AbstractMemory


class AbstractCells(AbstractMemory):
    """Memory cells in a row, of which the controller reads the first. A step is a mixture of moves of all of them.

    The controller weights the moves by a softmax, and computes a value in (0, 1) to put into the first cell.
    `most_cells` is the largest number of cells; a run that is too short to reach them all has fewer, and the same
    numbers.
    """

    value: Linear
    action: Linear
    most_cells: int = eqx.field(static=True)
    read_size: int = eqx.field(static=True)
    moves: ClassVar[tuple[str, ...]]

    def __init__(self, hidden_size: int, *, cell_size: int, most_cells: int, key: PRNGKeyArray) -> None:
        k_value, k_action = jax.random.split(key)
        self.value = uniform_linear(hidden_size, cell_size, key=k_value)
        self.action = uniform_linear(hidden_size, len(self.moves), key=k_action)
        self.most_cells = most_cells
        self.read_size = cell_size

    def read(self, memory: Float[Array, "cells cell"]) -> Float[Array, " cell"]:
        return memory[0]

    def actions(self, hidden: Float[Array, " hidden"]) -> tuple[Float[Array, " action"], Float[Array, " cell"]]:
        return jax.nn.softmax(self.action(hidden)), jax.nn.sigmoid(self.value(hidden))

    def internals(self, memories: Float[Array, "time cells cell"], actions: tuple[Array, Array]) -> dict[str, Internal]:
        """Returns the inspectable arrays. Place 0 is the cell that the controller reads."""
        probabilities, values = actions
        return {
            "actions": Internal(probabilities, (TIME, "action"), self.moves),
            "written": Internal(values, (TIME, "cell")),
            "memory": Internal(memories, (TIME, "place", "cell")),
        }


class PushPopStack(AbstractCells):
    """`new[i] = push * old[i - 1] + pop * old[i + 1]`, where `old[-1]` is the value and below the bottom is zero."""

    moves: ClassVar[tuple[str, ...]] = ("push", "pop")

    def __init__(self, hidden_size: int, *, cell_size: int, most_cells: int, key: PRNGKeyArray) -> None:
        super().__init__(hidden_size, cell_size=cell_size, most_cells=most_cells, key=key)

    def init(self, extent: Extent) -> Float[Array, "cells cell"]:
        """Returns an empty stack. A step pushes at most one cell."""
        return jnp.zeros((min(self.most_cells, extent.num_steps + 1), self.read_size), self.action.weight.dtype)

    def act(self, memory: Float[Array, "cells cell"], actions: tuple[Array, Array]) -> Float[Array, "cells cell"]:
        (push, pop), value = actions
        above = jnp.concatenate([value[None], memory[:-1]])
        below = jnp.concatenate([memory[1:], jnp.zeros_like(memory[:1])])
        return push * above + pop * below


class RotatingTape(AbstractCells):
    """A ring that is rotated by a mixture of five moves, after which the value is added to the first cell.

    The moves are: rotate left, rotate right, stay, and both rotations once more (pop right, pop left) with the cell
    that would wrap around between the last cell and the first set to zero.
    """

    moves: ClassVar[tuple[str, ...]] = ("left", "right", "stay", "pop right", "pop left")

    def __init__(self, hidden_size: int, *, cell_size: int, most_cells: int, key: PRNGKeyArray) -> None:
        super().__init__(hidden_size, cell_size=cell_size, most_cells=most_cells, key=key)

    def init(self, extent: Extent) -> Float[Array, "cells cell"]:
        """Returns an empty ring. A step moves by one cell, to the left or to the right."""
        return jnp.zeros((min(self.most_cells, 2 * extent.num_steps + 2), self.read_size), self.action.weight.dtype)

    def act(self, memory: Float[Array, "cells cell"], actions: tuple[Array, Array]) -> Float[Array, "cells cell"]:
        (left, right, stay, pop_right, pop_left), value = actions
        zero = jnp.zeros_like(memory[:1])
        return (
            left * jnp.concatenate([memory[1:], memory[:1]])
            + right * jnp.concatenate([memory[-1:], memory[:-1]])
            + stay * memory
            + pop_right * jnp.concatenate([zero, memory[:-1]])
            + pop_left * jnp.concatenate([memory[1:], zero])
            + jnp.concatenate([value[None], jnp.zeros_like(memory[1:])])
        )
