"""A network around any cell: one-hot or embedded tokens as input, a linear readout at every step."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from humboldt.core.internals import Internal
from humboldt.models.cells.base import AbstractCell, AbstractController, Extent
from humboldt.models.cells.with_memory import normal_memory_cell, uniform_marnn_cell
from humboldt.models.layers.embedding import NormalEmbedding
from humboldt.models.layers.linear import Linear, look_up, uniform_linear
from humboldt.models.loop.fused.choice import why_scan, within_kernel
from humboldt.models.loop.one_table import unroll_over_one_table
from humboldt.models.loop.outputs import logits_of, read_out
from humboldt.models.memories.base import AbstractMemory
from humboldt.models.networks.base import AbstractInspectable, AbstractStepwise, Mask, Tokens
from humboldt.models.zoo.shared.recurrent import ControllerName


class RecurrentNetwork(AbstractStepwise, AbstractInspectable):
    """A cell and a readout.

    - `num_symbols`: the number of input symbols; larger token ids are the marks that follow an input (`∅`).
    - `relu_readout`: whether a ReLU comes before the readout.
    - `keeps_one_table`: for a cell that holds an `NDStack`: whether gradients take memory for one table of the stack,
      instead of one for each step.
    - `embedding`: the vectors of tokens; without one, they are one-hot.
    """

    cell: AbstractCell
    readout: Linear
    input_size: int = eqx.field(static=True)
    num_symbols: int = eqx.field(static=True)
    relu_readout: bool = eqx.field(static=True, default=False)
    keeps_one_table: bool = eqx.field(static=True, default=False)
    embedding: NormalEmbedding | None = None

    def __call__(
        self, tokens: Int[Array, " time"], mask: Bool[Array, " time"], *, key: PRNGKeyArray | None = None
    ) -> Float[Array, "time out"]:
        """Returns logits at every step, which depend on no later token. The mask gives memories the length."""
        del key
        if self.keeps_one_table:
            hidden = unroll_over_one_table(self.cell, self.start(tokens, mask), self._embedded(tokens))
            return jax.vmap(self._logits)(hidden)
        extent = self._extent(tokens, mask)
        return logits_of(self.cell, self.readout, extent, self._vectors(), tokens, relu=self.relu_readout)

    def numbers_at_once(self, tokens: Tokens) -> int | None:
        within = within_kernel(self.cell, self.readout, relu=self.relu_readout)
        if self.keeps_one_table or why_scan(self.cell, self._vectors(), len(tokens), within):
            return None
        state = sum(leaf.size for leaf in jax.tree.leaves(jax.eval_shape(self.start, tokens)))
        hidden, classes = self.readout.weight.shape
        return state + len(tokens) * (classes if within is not None else hidden + classes)  # of all steps

    def inspect(self, tokens: Int[Array, " time"], mask: Bool[Array, " time"]) -> dict[str, Internal]:
        """Returns the states of the cell after every step and, for a memory, its contents and the actions on it."""

        def step(state: Any, x: Array) -> tuple[Any, tuple[Any, Array]]:
            state, hidden = self.cell(state, self.cell.project(x))
            return state, (state, hidden)

        start = self.cell.init_state(self._extent(tokens, mask)._replace(keeps_all=True))
        _, (states, outputs) = jax.lax.scan(step, start, self._embedded(tokens))
        return self.cell.internals(states, outputs)

    def start(self, tokens: Tokens, mask: Mask | None = None, key: PRNGKeyArray | None = None) -> Any:
        """Returns the state before the first of these tokens. There is no dropout: a key changes nothing."""
        del key
        return self.cell.init_state(self._extent(tokens, jnp.ones(len(tokens), bool) if mask is None else mask))

    def _extent(self, tokens: Tokens, mask: Mask) -> Extent:
        is_mark = mask & (tokens >= self.num_symbols)
        input_length = jnp.where(is_mark.any(), jnp.argmax(is_mark).astype(jnp.int32), mask.sum(dtype=jnp.int32))
        return Extent.of(mask, input_length=input_length)

    def step(self, state: Any, token: Int[Array, ""]) -> tuple[Any, Float[Array, " out"]]:
        state, hidden = self.cell(state, self.cell.project(self._embedded(token)))
        return state, self._logits(hidden)

    def _logits(self, hidden: Float[Array, " hidden"]) -> Float[Array, " out"]:
        return read_out(self.readout, hidden, relu=self.relu_readout)

    def _vectors(self) -> Float[Array, "symbol in"]:
        """Returns the vectors of all tokens."""
        if self.embedding is not None:
            return self.embedding.weight
        return jnp.eye(self.input_size, dtype=self.readout.weight.dtype)

    def _embedded(self, tokens: Int[Array, "*time"]) -> Float[Array, "*time in"]:
        if self.embedding is not None:
            return look_up(self.embedding.weight, tokens)
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
    """Builds a network of Delétang et al. (2023) that holds a memory, freshly initialised."""
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
    """Builds a memory-augmented network of Suzgun et al. (2019), freshly initialised."""
    k_controller, k_memory, k_reading, k_readout = jax.random.split(key, 4)
    controller = make_controller(k_controller)
    cell = uniform_marnn_cell(controller, make_memory(k_memory), key=k_reading)
    readout = uniform_linear(controller.hidden_size, output_size, key=k_readout)
    return RecurrentNetwork(cell, readout, input_size, num_symbols)


def embedded_network(
    make_cell: Callable[[PRNGKeyArray], AbstractCell],
    input_size: int,
    output_size: int,
    *,
    hidden_size: int,
    num_symbols: int,
    keeps_one_table: bool = False,
    key: PRNGKeyArray,
) -> RecurrentNetwork:
    """Builds an embedding and a readout around a cell, both as in PyTorch. The cell's input has `hidden_size` numbers.

    So no weight of the cell depends on an alphabet, and the network has the same size for every problem.
    """
    k_embedding, k_cell, k_readout = jax.random.split(key, 3)
    return RecurrentNetwork(
        make_cell(k_cell),
        uniform_linear(hidden_size, output_size, key=k_readout),
        input_size,
        num_symbols,
        keeps_one_table=keeps_one_table,
        embedding=NormalEmbedding(input_size, hidden_size, key=k_embedding),
    )
