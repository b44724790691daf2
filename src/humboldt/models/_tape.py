"""The differentiable tape of Delétang et al. (2023), after the Baby-NTM of Suzgun et al. (2019)."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from humboldt.models._linear import Linear
from humboldt.models._memory import AbstractMemory, recomputed

STAY, LEFT, RIGHT, JUMP_LEFT, JUMP_RIGHT = range(5)


@jax.custom_vjp
def roll(tape: Float[Array, "cells cell"], shift: Int[Array, ""]) -> Float[Array, "cells cell"]:
    """`jnp.roll(tape, shift, 0)`, with a backward pass that rolls back (a gather) instead of scattering."""
    cells = tape.shape[0]
    return tape[(jnp.arange(cells) - shift) % cells]


def _roll_forward(tape: Array, shift: Array) -> tuple[Array, Array]:
    return roll(tape, shift), shift


def _roll_backward(shift: Array, cotangent: Array) -> tuple[Array, None]:
    return roll(cotangent, -shift), None


roll.defvjp(_roll_forward, _roll_backward)


class Tape(AbstractMemory):
    """One or more tapes of vectors with a head. A step is a mixture of five actions, weighted by a softmax:
    write and stay, write and move left or right, jump left or right by the length of the input without writing.

    The head stands still at cell 0 and the tape moves below it. The tape is a ring, large enough that moving along it
    step by step never meets its own track. With `jumps_write` the jumps write first, as in the released code.
    """

    value: list[Linear]
    action: Linear
    cell_size: int = eqx.field(static=True)
    num_tapes: int = eqx.field(static=True)
    smallest: int = eqx.field(static=True)
    jumps_write: bool = eqx.field(static=True)
    read_size: int = eqx.field(static=True)

    def __init__(
        self,
        hidden_size: int,
        *,
        cell_size: int,
        num_tapes: int,
        smallest: int,
        jumps_write: bool,
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

    def init(self, *, num_steps: int, input_length: Int[Array, ""]) -> tuple[Array, Array]:
        """Empty tapes, and the length of a jump."""
        cells = max(self.smallest, 2 * num_steps + 2)
        return jnp.zeros((self.num_tapes, cells, self.cell_size), self.action.weight.dtype), input_length

    def read(self, memory: tuple[Array, Array]) -> Float[Array, " read"]:
        return memory[0][:, 0].reshape(-1)

    def actions(self, hidden: Float[Array, " hidden"]) -> tuple[Float[Array, "tape 5"], Float[Array, "tape cell"]]:
        value = hidden
        for layer in self.value[:-1]:
            value = jax.nn.relu(layer(value))
        value = self.value[-1](value).reshape(self.num_tapes, self.cell_size)
        return jax.nn.softmax(self.action(hidden).reshape(self.num_tapes, 5)), value

    def act(self, memory: tuple[Array, Array], actions: tuple[Array, Array]) -> tuple[Array, Array]:
        tapes, jump = memory
        move = recomputed(partial(_moved, jumps_write=self.jumps_write))
        return move(tapes, jump, *actions), jump


def _moved(
    tapes: Float[Array, "tape cells cell"],
    jump: Int[Array, ""],
    probabilities: Float[Array, "tape 5"],
    values: Float[Array, "tape cell"],
    *,
    jumps_write: bool,
) -> Float[Array, "tape cells cell"]:
    written = jnp.concatenate([values[:, None], tapes[:, 1:]], 1)
    jumping = written if jumps_write else tapes
    stay, left, right, jump_left, jump_right = (probabilities[:, i, None, None] for i in range(5))
    many = jax.vmap(roll, (0, None))
    return (
        stay * written
        + left * jnp.roll(written, -1, 1)
        + right * jnp.roll(written, 1, 1)
        + jump_left * many(jumping, -jump)
        + jump_right * many(jumping, jump)
    )
