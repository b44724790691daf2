"""The cells that the kernels can run, taken apart into arrays."""

from functools import reduce
from operator import add
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from humboldt.models.cells.base import AbstractCell, Extent
from humboldt.models.cells.gru import GRUCell
from humboldt.models.cells.lstm import LSTMCell
from humboldt.models.cells.rnn import Activation, RNNCell
from humboldt.models.cells.with_memory import MemoryCell
from humboldt.models.layers.linear import Linear
from humboldt.models.loop.fused.kernels import GATED, gated_table, logit_parts, reads_out
from humboldt.models.loop.fused.recorded import recorded
from humboldt.models.loop.fused.tape import TapeKernel, is_known, start_of, taps_of, weights_of
from humboldt.models.memories.stack import Stack
from humboldt.models.memories.tape import Tape

Kind = Literal["rnn", "lstm", "gru", "stack_rnn", "stack_lstm", "tape_rnn"]
KINDS: dict[tuple[type, bool], Kind] = {
    (RNNCell, False): "rnn",
    (LSTMCell, False): "lstm",
    (GRUCell, False): "gru",
    (RNNCell, True): "stack_rnn",
    (LSTMCell, True): "stack_lstm",
}


class Kernel(NamedTuple):
    """The kernel of one kind of cell. `activation`: of an RNN."""

    kind: Kind
    activation: Activation = "relu"
    tape: TapeKernel | None = None


class Sizes(NamedTuple):
    """The sizes of a loop, which decide whether a kernel can run it."""

    hidden: int
    steps: int
    symbols: int
    activation: str  # of an RNN
    cell_size: int = 0  # of the memory
    classes: int = 0  # of the readout that the kernel applies


class Parts(NamedTuple):
    """A cell: its controller and, if it has a memory, the layer on the reading and the memory."""

    kind: Kind
    controller: RNNCell | LSTMCell | GRUCell
    reading: Linear | None
    stack: Stack | None
    tape: Tape | None = None

    @property
    def kernel(self) -> Kernel:
        """The kernel for this cell."""
        return Kernel(self.kind, self.controller.activation if isinstance(self.controller, RNNCell) else "relu")

    def start(self, extent: Extent, symbols: Int[Array, " time"]) -> tuple[Kernel, Int[Array, " numbers"]]:
        """Returns the kernel for a run, and the numbers of the string that it reads."""
        symbols = symbols.astype(jnp.int32)
        if self.tape is None:
            return self.kernel, symbols
        tape, numbers = start_of(self.tape, extent)
        return self.kernel._replace(tape=tape), jnp.concatenate([symbols, numbers])

    def sizes(self, steps: int, symbols: int, readout: Linear | None = None) -> Sizes:
        """Returns the sizes of a loop of `steps` steps over an alphabet of `symbols` symbols."""
        cell_size = next((memory.cell_size for memory in (self.stack, self.tape) if memory), 0)
        classes = 0 if readout is None else readout.weight.shape[1]
        return Sizes(self.controller.hidden_size, steps, symbols, self.kernel.activation, cell_size, classes)

    def reads_out(self, readout: Linear, *, relu: bool) -> bool:
        """Returns whether the kernel applies this readout, with a ReLU before it if `relu`.

        After a ReLU another one changes nothing. Before a readout of other outputs it is left to XLA.
        """
        is_positive = isinstance(self.controller, RNNCell) and self.controller.activation == "relu"
        is_plain = type(readout) is Linear and readout.weight.dtype == jnp.float32
        return is_plain and (is_positive or not relu) and reads_out(self.kind, readout.weight.shape[1])

    def weights(self, readout: Linear | None = None) -> dict[str, Array]:
        """Returns the arrays of the products that a kernel computes at every step."""
        arrays = {"recurrent": self._recurrent()}
        if readout is not None:
            arrays["readout"] = readout.weight
        if self.reading is not None and self.stack is not None:
            arrays["reading"] = self.reading.weight
            for name, layer in (("value", self.stack.value), ("action", self.stack.action)):
                arrays[name], arrays[f"{name}_bias"] = layer.weight, _bias(layer)
        if self.reading is not None and self.tape is not None:
            arrays |= {"reading": self.reading.weight, **weights_of(self.tape, _bias)}
        return arrays

    def _recurrent(self) -> Float[Array, "hidden drive"]:
        """Returns the recurrent weights. The drive of a GRU has a fourth part: what the input adds to the new state,
        behind the reset gate; it has no recurrent weights."""
        weight = self.controller.recurrent.weight
        return jnp.pad(weight, ((0, 0), (0, len(weight)))) if isinstance(self.controller, GRUCell) else weight

    def table(self, vectors: Float[Array, "symbol in"]) -> Float[Array, "symbol drive"]:
        """Returns what each symbol adds to the drive, with all biases and the offset of the forget gate."""
        table, bias = jax.vmap(self.controller.project)(vectors), _bias(self.controller.recurrent)[None]
        if isinstance(self.controller, GRUCell):
            gates, new = jnp.split(table, (2 * self.controller.hidden_size,), 1)
            return jnp.concatenate([jnp.pad(gates, ((0, 0), (0, new.shape[1]))) + bias, new], 1)
        table = table + bias
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
        notes: dict[str, Array],
        readout: Linear | None = None,
    ) -> tuple[Array, dict[str, Array], Array]:
        """Returns stand-ins for the drives of all steps, the outputs of the layers on the hidden state and the scale of
        their gradients (see `recorded`): gradients go through them to all weights.

        `notes` are the inputs of the layers: `before`, the hidden state before every step, or `inputs`, the same with
        the one-hot symbol behind it, `read`, the reading, and `last`, the hidden state after all steps.
        """
        before = notes["inputs"] if self.kind in GATED else notes["before"]
        weights = self.weights(readout)
        # Nothing is added, but all weights now differ along the same axes of `vmap`: those of members. And so do
        # symbols that members share: else XLA would sort the gradients of all drives for one product of all members.
        zero = 0 * jax.lax.stop_gradient(sum((x.reshape(-1)[0] for x in weights.values()), start=table[0, 0]))

        def of(weights: list[Array], inputs: list[Array], axis: int = 0) -> tuple[Array, Array]:
            return recorded(jnp.concatenate(weights, axis) + zero, jnp.concatenate(inputs, 1))

        if self.kind in GATED:  # one product, which reads the gradients of all drives once
            columns, _ = gated_table(len(table))
            both = [_with_rows(self._recurrent(), before.shape[1] - columns), _with_rows(table, columns)]
            drives, scale = of(both, [before])
        else:
            small, small_inputs = (
                [table],
                [jax.nn.one_hot(symbols, len(table), dtype=before.dtype) + zero.astype(before.dtype)],
            )
            if self.reading is not None:
                small.append(self.reading.weight)
                small_inputs.append(notes["read"])
            drives, scale = _sum(of([self._recurrent()], [before]), of(small, small_inputs))
        always = (symbols[:, None] >= 0).astype(before.dtype) + zero.astype(before.dtype)
        taps: dict[str, Array] = {}
        scales = [scale]
        if self.tape is not None:
            taps, others = taps_of(weights, notes, always, of)
            scales += others
        # Small layers on the hidden state share a product. Their gradients come with the step that finds the state, the
        # next one.
        biased = {"stack_rnn": ("value", "action"), "tape_rnn": ("action",)}.get(self.kind, ())
        small_layers = {name: weights[name] for name in biased}
        if readout is not None:
            small_layers["readout"] = jnp.concatenate([readout.weight] * logit_parts(before.dtype), 1)
            taps["last"], scale = of([small_layers["readout"]], [notes["last"]])
            scales.append(scale)
        if small_layers:
            rows = [_with_rows(weight, before.shape[1]) for weight in small_layers.values()]
            outputs, scale = of(rows, [before], 1)
            ends = np.cumsum([weight.shape[1] for weight in small_layers.values()])[:-1]
            taps |= zip(small_layers, jnp.split(outputs, ends, 1), strict=True)
            scales.append(scale)
        for name in biased:
            bias, scale = of([weights[f"{name}_bias"][None]], [always])
            taps[name] = taps[name] + bias
            scales.append(scale)
        return drives, taps, reduce(add, scales)


def parts_of(cell: AbstractCell) -> Parts | None:
    """Returns the parts of a cell, or `None` if it is not exactly one of those that the kernels know: a class derived
    from one of these may do anything."""
    controller, reading, stack = cell, None, None
    if type(cell) is MemoryCell and isinstance(cell.memory, Tape):
        return _with_tape(cell, cell.memory)
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


def _with_tape(cell: MemoryCell, tape: Tape) -> Parts | None:
    controller, reading = cell.controller, cell.reading
    if type(controller) is not RNNCell or controller.activation != "relu" or not is_known(tape):
        return None
    layers = [controller.input, controller.recurrent, reading, tape.action, *tape.value]
    parts = Parts("tape_rnn", controller, reading, None, tape)
    return parts if all(type(layer) is Linear for layer in layers) else None


def _with_rows(weight: Float[Array, "in out"], rows: int) -> Float[Array, "rows out"]:
    """Returns a weight with rows of zeros behind it, for inputs that are of no meaning to its layer."""
    return jnp.pad(weight, ((0, rows - len(weight)), (0, 0)))


def _bias(layer: Linear) -> Float[Array, " out"]:
    return jnp.zeros(layer.weight.shape[1], layer.weight.dtype) if layer.bias is None else layer.bias


def _sum(*results: Any) -> tuple[Array, Array]:
    """Adds up results of `recorded`: all get the same cotangents."""
    outputs, scales = zip(*results, strict=True)
    return reduce(add, outputs), reduce(add, scales)
