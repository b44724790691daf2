"""Any cell as a network: one-hot tokens in, a linear readout at every step out."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from humboldt.internals import Internal
from humboldt.models.cells.base import AbstractCell, AbstractController, Extent
from humboldt.models.cells.with_memory import normal_memory_cell, uniform_marnn_cell
from humboldt.models.layers.linear import Linear, uniform_linear
from humboldt.models.loop.one_table import unroll_over_one_table
from humboldt.models.loop.unroll import unroll_symbols
from humboldt.models.memories.base import AbstractMemory
from humboldt.models.networks.base import AbstractInspectable, AbstractStepwise, Mask, Tokens
from humboldt.models.options.recurrent import ControllerName


class RecurrentNetwork(AbstractStepwise, AbstractInspectable):
    """A cell and a readout.

    - `num_symbols`: how many token ids are input symbols; larger ids are the marks that follow an input (`∅`).
    - `relu_readout`: whether a ReLU comes before the readout.
    - `keeps_one_table`: for a cell that holds an `NDStack`: whether gradients take memory for one table of the stack,
      instead of one for each step.
    """

    cell: AbstractCell
    readout: Linear
    input_size: int = eqx.field(static=True)
    num_symbols: int = eqx.field(static=True)
    relu_readout: bool = eqx.field(static=True, default=False)
    keeps_one_table: bool = eqx.field(static=True, default=False)

    def __call__(
        self, tokens: Int[Array, " time"], mask: Bool[Array, " time"], *, key: PRNGKeyArray | None = None
    ) -> Float[Array, "time out"]:
        """Logits at every step. A step sees only what came before it; the mask is for memories that need the length."""
        del key
        state = self.start(tokens, mask)
        if self.keeps_one_table:
            hidden = unroll_over_one_table(self.cell, state, self._one_hot(tokens))
        else:
            vectors = jnp.eye(self.input_size, dtype=self.readout.weight.dtype)
            _, hidden = unroll_symbols(self.cell, state, vectors, tokens)
        return jax.vmap(self._logits)(hidden)

    def inspect(self, tokens: Int[Array, " time"], mask: Bool[Array, " time"]) -> dict[str, Internal]:
        """The states of the cell after every step and, where it holds a memory, its contents and the actions on it."""

        def step(state: Any, x: Array) -> tuple[Any, tuple[Any, Array]]:
            state, hidden = self.cell(state, self.cell.project(x))
            return state, (state, hidden)

        _, (states, outputs) = jax.lax.scan(step, self.start(tokens, mask), self._one_hot(tokens))
        return self.cell.internals(states, outputs)

    def start(self, tokens: Tokens, mask: Mask | None = None, key: PRNGKeyArray | None = None) -> Any:
        """The state before the first of these tokens. There is no dropout: a key changes nothing."""
        del key
        mask = jnp.ones(len(tokens), bool) if mask is None else mask
        is_mark = mask & (tokens >= self.num_symbols)
        input_length = jnp.where(is_mark.any(), jnp.argmax(is_mark).astype(jnp.int32), mask.sum(dtype=jnp.int32))
        return self.cell.init_state(Extent.of(mask, input_length=input_length))

    def step(self, state: Any, token: Int[Array, ""]) -> tuple[Any, Float[Array, " out"]]:
        state, hidden = self.cell(state, self.cell.project(self._one_hot(token)))
        return state, self._logits(hidden)

    def _logits(self, hidden: Float[Array, " hidden"]) -> Float[Array, " out"]:
        return self.readout(jax.nn.relu(hidden) if self.relu_readout else hidden)

    def _one_hot(self, tokens: Int[Array, "*time"]) -> Float[Array, "*time in"]:
        return jax.nn.one_hot(tokens, self.input_size, dtype=self.readout.weight.dtype)


def memory_network(
    controller_name: ControllerName,
    make_memory: Callable[[PRNGKeyArray], AbstractMemory],
    input_size: int,
    output_size: int,
    *,
    hidden_size: int,
    num_symbols: int,
    relu_readout: bool,
    keeps_one_table: bool = False,
    key: PRNGKeyArray,
) -> RecurrentNetwork:
    """A network of Delétang et al. (2023) that holds a memory, freshly initialised."""
    k_controller, k_memory, k_reading, k_readout = jax.random.split(key, 4)
    cell = normal_memory_cell(
        controller_name,
        make_memory(k_memory),
        input_size,
        hidden_size,
        k_controller=k_controller,
        k_reading=k_reading,
    )
    readout = Linear(hidden_size, output_size, key=k_readout)
    return RecurrentNetwork(cell, readout, input_size, num_symbols, relu_readout, keeps_one_table)


def marnn_network(
    make_controller: Callable[[PRNGKeyArray], AbstractController],
    make_memory: Callable[[PRNGKeyArray], AbstractMemory],
    input_size: int,
    output_size: int,
    *,
    num_symbols: int,
    key: PRNGKeyArray,
) -> RecurrentNetwork:
    """A memory-augmented network of Suzgun et al. (2019), freshly initialised."""
    k_controller, k_memory, k_reading, k_readout = jax.random.split(key, 4)
    controller = make_controller(k_controller)
    cell = uniform_marnn_cell(controller, make_memory(k_memory), key=k_reading)
    readout = uniform_linear(controller.hidden_size, output_size, key=k_readout)
    return RecurrentNetwork(cell, readout, input_size, num_symbols)
