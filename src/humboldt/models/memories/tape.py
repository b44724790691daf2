"""The differentiable tape of Delétang et al. (2023), after the Baby-NTM of Suzgun et al. (2019)."""

from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from humboldt.core.internals import TIME, Internal
from humboldt.models.cells.base import Extent
from humboldt.models.layers.linear import Linear
from humboldt.models.memories.base import AbstractMemory, recomputed

STAY, LEFT, RIGHT, JUMP_LEFT, JUMP_RIGHT = range(5)


@jax.custom_vjp
def roll(tape: Float[Array, "cells cell"], shift: Int[Array, ""], ring: Int[Array, ""]) -> Float[Array, "cells cell"]:
    """Returns `jnp.roll(tape[:ring], shift, 0)` followed by the unchanged cells after the ring.

    The backward pass rolls back (a gather) instead of scattering.
    """
    cell = jnp.arange(tape.shape[0], dtype=ring.dtype)
    return tape[jnp.where(cell < ring, (cell - shift) % ring, cell)]


def _roll_forward(tape: Array, shift: Array, ring: Array) -> tuple[Array, tuple[Array, Array]]:
    return roll(tape, shift, ring), (shift, ring)


def _roll_backward(saved: tuple[Array, Array], cotangent: Array) -> tuple[Array, None, None]:
    shift, ring = saved
    return roll(cotangent, -shift, ring), None, None


roll.defvjp(_roll_forward, _roll_backward)


@jax.custom_vjp
def cell_at(tape: Float[Array, "cells cell"], place: Int[Array, ""]) -> Float[Array, " cell"]:
    """Returns `tape[place]`, with a backward pass that compares places instead of scattering."""
    return tape[place]


def _cell_forward(tape: Array, place: Array) -> tuple[Array, Array]:
    return cell_at(tape, place), jnp.arange(tape.shape[0], dtype=place.dtype) == place


def _cell_backward(is_place: Array, cotangent: Array) -> tuple[Array, None]:
    return jnp.where(is_place[:, None], cotangent, 0.0), None


cell_at.defvjp(_cell_forward, _cell_backward)


class Tapes(NamedTuple):
    """Tapes, each with its head at cell 0. Cells beyond the ring are padding of the shape and stay empty."""

    cells: Float[Array, "tape cells cell"]
    ring: Int[Array, ""]  # the number of cells of the ring
    jump: Int[Array, ""]  # the number of cells that a jump moves by


class Tape(AbstractMemory):
    """One or more tapes of vectors with a head. A step is a mixture of five actions, weighted by a softmax:
    write and stay, write and move left or right, jump left or right by the length of the input without writing.

    The head stays at cell 0 and the tape moves below it. The tape is a ring, large enough that single moves never go
    all the way round; but jumps can, so that its size affects results. It is computed from the real steps: padding must
    not change it. With `jumps_write` the jumps write first, as in the released code.

    With `causal`, nothing depends on how long a string will be: the ring follows from the length of the input, and
    where that is not known beforehand (nothing marks its end), a jump moves by one cell, and the ring is never closed.
    """

    value: list[Linear]
    action: Linear
    cell_size: int = eqx.field(static=True)
    num_tapes: int = eqx.field(static=True)
    smallest: int = eqx.field(static=True)
    jumps_write: bool = eqx.field(static=True)
    read_size: int = eqx.field(static=True)
    causal: bool = eqx.field(static=True)

    def __init__(
        self,
        hidden_size: int,
        *,
        cell_size: int,
        num_tapes: int,
        smallest: int,
        jumps_write: bool,
        causal: bool = False,
        key: PRNGKeyArray,
    ) -> None:
        k_action, *k_value = jax.random.split(key, 4)
        sizes = (hidden_size, 64, 64, num_tapes * cell_size)  # of the network for the value to write: released code
        self.value = [Linear(sizes[i], sizes[i + 1], key=k_value[i]) for i in range(3)]
        self.action = Linear(hidden_size, num_tapes * 5, key=k_action)
        self.cell_size = cell_size
        self.num_tapes = num_tapes
        self.smallest = smallest
        self.jumps_write = jumps_write
        self.read_size = num_tapes * cell_size
        self.causal = causal

    def init(self, extent: Extent) -> Tapes:
        """Returns empty tapes."""
        if self.causal:
            return self._causal(extent)
        cells = max(self.smallest, 2 * extent.num_steps + 2)
        ring = jnp.maximum(self.smallest, 2 * extent.real_steps + 2)
        zeros = jnp.zeros((self.num_tapes, cells, self.cell_size), self.action.weight.dtype)
        return Tapes(zeros, ring, extent.input_length)

    def _causal(self, extent: Extent) -> Tapes:
        cells = max(self.smallest, 4 * extent.num_steps + 2)
        is_known = extent.input_length < extent.real_steps  # a mark follows the input
        ring = jnp.where(is_known, jnp.maximum(self.smallest, 4 * extent.input_length + 2), cells)
        zeros = jnp.zeros((self.num_tapes, cells, self.cell_size), self.action.weight.dtype)
        return Tapes(zeros, ring, jnp.where(is_known, extent.input_length, 1))

    def read(self, memory: Tapes) -> Float[Array, " read"]:
        return memory.cells[:, 0].reshape(-1)

    def actions(self, hidden: Float[Array, " hidden"]) -> tuple[Float[Array, "tape 5"], Float[Array, "tape cell"]]:
        value = hidden
        for layer in self.value[:-1]:
            value = jax.nn.relu(layer(value))
        value = self.value[-1](value).reshape(self.num_tapes, self.cell_size)
        return jax.nn.softmax(self.action(hidden).reshape(self.num_tapes, 5)), value

    def act(self, memory: Tapes, actions: tuple[Array, Array]) -> Tapes:
        move = recomputed(partial(_moved, jumps_write=self.jumps_write))
        return memory._replace(cells=move(memory, *actions))

    def internals(self, memories: Tapes, actions: tuple[Array, Array]) -> dict[str, Internal]:
        """Returns the inspectable arrays. Place 0 of a tape is the cell below the head."""
        probabilities, values = actions
        names = ("stay", "left", "right", "jump left", "jump right")
        return {
            "actions": Internal(probabilities, (TIME, "tape", "action"), names),
            "written": Internal(values, (TIME, "tape", "cell")),
            "tape": Internal(memories.cells, (TIME, "tape", "place", "cell")),
        }


def _moved(
    tapes: Tapes, probabilities: Float[Array, "tape 5"], values: Float[Array, "tape cell"], *, jumps_write: bool
) -> Float[Array, "tape cells cell"]:
    old, ring, jump = tapes
    written = jnp.concatenate([values[:, None], old[:, 1:]], 1)
    jumping = written if jumps_write else old
    stay, left, right, jump_left, jump_right = (probabilities[:, i, None, None] for i in range(5))
    # One cell to the left or right: a shift, and the cell that wraps around the end of the ring.
    cell, empty = jnp.arange(old.shape[1], dtype=ring.dtype)[None, :, None], jnp.zeros_like(old[:, :1])
    first, last = written[:, :1], jax.vmap(cell_at, (0, None))(written, ring - 1)[:, None]
    to_left = jnp.where(cell == ring - 1, first, jnp.concatenate([written[:, 1:], empty], 1))
    to_right = jnp.where(cell == ring, 0.0, jnp.concatenate([last, written[:, :-1]], 1))
    roll_tapes = jax.vmap(roll, (0, None, None))
    return (
        stay * written
        + left * to_left
        + right * to_right
        + jump_left * roll_tapes(jumping, -jump, ring)
        + jump_right * roll_tapes(jumping, jump, ring)
    )
