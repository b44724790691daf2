"""The differentiable stack of Joulin and Mikolov (2015)."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from humboldt.core.internals import TIME, Internal
from humboldt.models.cells.base import Extent
from humboldt.models.layers.linear import Linear
from humboldt.models.memories.base import AbstractMemory, recomputed

PUSH, POP, NO_OP = range(3)


class Stack(AbstractMemory):
    """One or more stacks of vectors. A step is a mixture of PUSH, POP and NO-OP, weighted by a softmax.

    `new[i] = push * old[i - 1] + pop * old[i + 1] + no_op * old[i]`, where `old[-1]` is the value pushed and cells
    below the bottom are zero. Each stack has its own softmax (the released code has one across all stacks, which is the
    same for one stack).
    """

    value: Linear
    action: Linear
    cell_size: int = eqx.field(static=True)
    num_stacks: int = eqx.field(static=True)
    read_size: int = eqx.field(static=True)

    def __init__(self, hidden_size: int, *, cell_size: int, num_stacks: int, key: PRNGKeyArray) -> None:
        k_value, k_action = jax.random.split(key)
        self.value = Linear(hidden_size, num_stacks * cell_size, key=k_value)
        self.action = Linear(hidden_size, num_stacks * 3, key=k_action)
        self.cell_size = cell_size
        self.num_stacks = num_stacks
        self.read_size = num_stacks * cell_size

    def init(self, extent: Extent) -> Float[Array, "stack depth cell"]:
        """Returns empty stacks. A step fills at most one more cell, and lifts another by one. So what lies deeper than
        half of the steps is never read again, and more cells would not change any number."""
        depth = extent.num_steps if extent.keeps_all else extent.num_steps // 2
        return jnp.zeros((self.num_stacks, depth + 1, self.cell_size), self.value.weight.dtype)

    def read(self, memory: Float[Array, "stack depth cell"]) -> Float[Array, " read"]:
        return memory[:, 0].reshape(-1)

    def actions(self, hidden: Float[Array, " hidden"]) -> tuple[Float[Array, "stack 3"], Float[Array, "stack cell"]]:
        probabilities = jax.nn.softmax(self.action(hidden).reshape(self.num_stacks, 3))
        return probabilities, self.value(hidden).reshape(self.num_stacks, self.cell_size)

    def act(
        self, memory: Float[Array, "stack depth cell"], actions: tuple[Array, Array]
    ) -> Float[Array, "stack depth cell"]:
        return _moved(memory, *actions)

    def internals(
        self, memories: Float[Array, "time stack depth cell"], actions: tuple[Array, Array]
    ) -> dict[str, Internal]:
        probabilities, values = actions
        return {
            "actions": Internal(probabilities, (TIME, "stack", "action"), ("push", "pop", "no-op")),
            "pushed": Internal(values, (TIME, "stack", "cell")),
            "stack": Internal(memories, (TIME, "stack", "depth", "cell")),
        }


@recomputed
def _moved(
    memory: Float[Array, "stack depth cell"],
    probabilities: Float[Array, "stack 3"],
    values: Float[Array, "stack cell"],
) -> Float[Array, "stack depth cell"]:
    push, pop, no_op = (probabilities[:, i, None, None] for i in range(3))
    above = jnp.concatenate([values[:, None], memory[:, :-1]], 1)
    below = jnp.concatenate([memory[:, 1:], jnp.zeros_like(memory[:, :1])], 1)
    return push * above + pop * below + no_op * memory
