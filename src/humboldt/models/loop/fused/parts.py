"""The cells that the kernels can run, taken apart into arrays."""

from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from humboldt.models.cells.base import AbstractCell
from humboldt.models.cells.lstm import LSTMCell
from humboldt.models.cells.rnn import RNNCell
from humboldt.models.cells.with_memory import MemoryCell
from humboldt.models.layers.linear import Linear
from humboldt.models.memories.stack import Stack

Kind = Literal["rnn", "lstm", "stack_rnn", "stack_lstm"]
KINDS: dict[tuple[type, bool], Kind] = {
    (RNNCell, False): "rnn",
    (LSTMCell, False): "lstm",
    (RNNCell, True): "stack_rnn",
    (LSTMCell, True): "stack_lstm",
}
ALIGNED = 8  # columns: a product of matrices whose rows begin at a multiple of 32 bytes is faster


class Sizes(NamedTuple):
    """What decides whether a kernel can run a loop."""

    hidden: int
    steps: int
    symbols: int
    activation: str  # of an RNN; empty for an LSTM
    cell_size: int = 0  # of the stack


class Parts(NamedTuple):
    """A cell: its controller and, if it has a stack, the layer on the reading and the stack."""

    kind: Kind
    controller: RNNCell | LSTMCell
    reading: Linear | None
    stack: Stack | None

    def sizes(self, steps: int, symbols: int) -> Sizes:
        """Returns the sizes of a loop of so many steps over an alphabet."""
        activation = self.controller.activation if isinstance(self.controller, RNNCell) else ""
        cell_size = self.stack.cell_size if self.stack else 0
        return Sizes(self.controller.hidden_size, steps, symbols, activation, cell_size)

    def weights(self) -> dict[str, Array]:
        """Returns the arrays that a kernel multiplies with at every step."""
        found = {"recurrent": self.controller.recurrent.weight}
        if self.reading is not None and self.stack is not None:
            found["reading"] = self.reading.weight
            for name, layer in (("value", self.stack.value), ("action", self.stack.action)):
                found[name], found[f"{name}_bias"] = layer.weight, _bias(layer)
        return found

    def table(self, vectors: Float[Array, "symbol in"]) -> Float[Array, "symbol drive"]:
        """Returns what each symbol adds to the drive, with all biases and the offset of the forget gate."""
        table = jax.vmap(self.controller.project)(vectors) + _bias(self.controller.recurrent)[None]
        if self.reading is not None:
            table = table + _bias(self.reading)[None]
        if isinstance(self.controller, LSTMCell):
            offsets = jnp.array([0.0, 0.0, self.controller.forget_offset, 0.0], table.dtype)
            table = table + jnp.repeat(offsets, self.controller.hidden_size)[None]
        return table

    def again(
        self,
        table: Float[Array, "symbol drive"],
        symbols: Int[Array, " time"],
        outputs: Float[Array, "time hidden"],
        notes: dict[str, Array],
    ) -> tuple[Float[Array, "time drive"], dict[str, Array]]:
        """Returns the drives of all steps, and the outputs of the layers on the hidden state, computed from the known
        outputs by one product each.

        Nobody uses these values. Gradients come back through them: that of a product of all steps is one product, too,
        also of several examples.
        """
        before = notes.get("before")
        if before is None:
            before = jnp.concatenate([jnp.zeros_like(outputs[:1]), outputs[:-1]])
        inputs = [before, jax.nn.one_hot(symbols, len(table), dtype=table.dtype)]
        weights = [self.controller.recurrent.weight, table]
        if self.reading is not None:
            inputs.append(notes["read"].astype(table.dtype))
            weights.append(self.reading.weight)
        filling = -sum(map(len, weights)) % ALIGNED
        inputs.append(jnp.zeros((len(symbols), filling), table.dtype))
        weights.append(jnp.zeros((filling, table.shape[1]), table.dtype))
        drives = jax.lax.stop_gradient(jnp.concatenate(inputs, 1)) @ jnp.concatenate(weights)
        if self.stack is None:
            return drives, {}
        layers = {"value": self.stack.value, "action": self.stack.action}
        both = jnp.concatenate([layer.weight for layer in layers.values()], 1)
        results = outputs @ both + jnp.concatenate([_bias(layer) for layer in layers.values()])[None]
        value_size = layers["value"].weight.shape[1]
        return drives, {"value": results[:, :value_size], "action": results[:, value_size:]}


def parts_of(cell: AbstractCell) -> Parts | None:
    """Returns the parts of a cell, or `None` if it is not exactly one of those that the kernels know: a class derived
    from one of these may do anything."""
    controller, reading, stack = cell, None, None
    if type(cell) is MemoryCell:
        controller, reading, stack = cell.controller, cell.reading, cell.memory
        if type(stack) is not Stack or stack.num_stacks != 1:
            return None
    kind = KINDS.get((type(controller), stack is not None))
    if kind is None:
        return None
    parts = Parts(kind, controller, reading, stack)  # pyright: ignore[reportArgumentType]
    layers = [parts.controller.input, parts.controller.recurrent, reading]
    layers += [stack.value, stack.action] if isinstance(stack, Stack) else []
    return parts if all(type(layer) in (Linear, type(None)) for layer in layers) else None


def _bias(layer: Linear) -> Float[Array, " out"]:
    return jnp.zeros(layer.weight.shape[1], layer.weight.dtype) if layer.bias is None else layer.bias
