"""Trained models as the measures of BLISS read them: one symbol in every row at a time.

A test set has up to 5 * 10^7 distinct prefixes, and the number of rows changes at almost every step, which a program
compiled for each shape does not like. So the models of the paper are written out once more, in NumPy and Numba, and a
test holds them to the originals. Any other recurrent model is run by JAX.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from humboldt._compiled import compiled
from humboldt.models._marnn import MarnnCell, PushPopStack, RotatingTape
from humboldt.models._recurrent import RecurrentModel
from humboldt.models._uniform import UniformLSTMCell

LSTM_ROWS = 512  # whose gates fit the cache
TINY = np.float32(1e-30)  # what is left of a value that was all but popped; below this, arithmetic is many times slower
MEMORY_BYTES = 4_000_000  # of all rows together, so that they stay in the cache between two steps


def make_stepper(model: RecurrentModel, longest: int, most_cells: int) -> tuple[Any, int]:
    """A stepper for strings of up to `longest` symbols, and how many rows it should be given at once.

    **Arguments:**

    - `most_cells`: how large a memory may be in the test, whatever it was in training.
    """
    cell = model.cell
    if isinstance(cell, UniformLSTMCell):
        return LSTMStepper(model), 16_384
    if isinstance(cell, MarnnCell):
        stepper = MarnnStepper(model, longest, most_cells)
        return stepper, max(16, MEMORY_BYTES // (8 * stepper.width))
    return Padded(JaxStepper(model, longest)), 4_096


def _array(x: Any) -> np.ndarray:
    return np.ascontiguousarray(np.asarray(x), np.float32)


def _bias(layer: Any) -> np.ndarray:
    return _array(layer.bias)


def _softmax(scores: np.ndarray) -> np.ndarray:
    np.exp(scores - scores.max(1, keepdims=True), out=scores)
    scores /= scores.sum(1, keepdims=True)
    return scores


class LSTMStepper:
    """An LSTM in single precision. A sigmoid is a shifted tanh, so one call does all gates: they are kept halved."""

    def __init__(self, model: RecurrentModel) -> None:
        cell = model.cell
        assert isinstance(cell, UniformLSTMCell)
        self.size = cell.recurrent.weight.shape[0]
        halves = np.repeat(np.array([0.5, 1.0, 0.5, 0.5], np.float32), self.size)  # of the gates i, g, f, o
        self.recurrent = _array(cell.recurrent.weight) * halves
        self.embedding = (_array(cell.input.weight) + _bias(cell.input) + _bias(cell.recurrent)) * halves
        self.readout, self.readout_bias = _array(model.readout.weight), _bias(model.readout)
        self._gates = np.empty((LSTM_ROWS, 4 * self.size), np.float32)

    def init(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Zeros."""
        return np.zeros((count, self.size), np.float32), np.zeros((count, self.size), np.float32)

    def step(self, state: tuple[np.ndarray, np.ndarray], symbols: np.ndarray) -> tuple[Any, np.ndarray]:
        """Overwrites the state."""
        for first in range(0, len(symbols), LSTM_ROWS):
            hidden, cell = (array[first : first + LSTM_ROWS] for array in state)
            gates = self._gates[: len(hidden)]
            np.matmul(hidden, self.recurrent, out=gates)
            _add_rows(gates, self.embedding, symbols[first : first + LSTM_ROWS])
            np.tanh(gates, out=gates)
            _update_cell(gates, cell)
            np.tanh(cell, out=hidden)
            _apply_output_gate(gates, hidden)
        return state, _softmax(state[0] @ self.readout + self.readout_bias)

    def take(self, state: tuple[np.ndarray, np.ndarray], rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Selects."""
        return state[0][rows], state[1][rows]


@compiled(fastmath=True)
def _add_rows(gates: np.ndarray, embedding: np.ndarray, symbols: np.ndarray) -> None:
    for row in range(len(symbols)):
        values, inputs = gates[row], embedding[symbols[row]]
        for j in range(len(values)):
            values[j] += inputs[j]


@compiled(fastmath=True)
def _update_cell(gates: np.ndarray, cell: np.ndarray) -> None:
    size = cell.shape[1]
    half, one = np.float32(0.5), np.float32(1)
    for row in range(len(cell)):
        enter, new, keep = gates[row, :size], gates[row, size : 2 * size], gates[row, 2 * size : 3 * size]
        values = cell[row]
        for j in range(size):
            values[j] = half * ((one + keep[j]) * values[j] + (one + enter[j]) * new[j])


@compiled(fastmath=True)
def _apply_output_gate(gates: np.ndarray, hidden: np.ndarray) -> None:
    size = hidden.shape[1]
    half, one = np.float32(0.5), np.float32(1)
    for row in range(len(hidden)):
        leave, values = gates[row, 3 * size :], hidden[row]
        for j in range(size):
            values[j] = half * (one + leave[j]) * values[j]


class MarnnStepper:
    """A controller with a stack or a tape, which has as many cells as the strings can reach, `most_cells` at most."""

    def __init__(self, model: RecurrentModel, longest: int, most_cells: int) -> None:
        cell = model.cell
        assert isinstance(cell, MarnnCell)
        controller, memory = cell.controller, cell.memory
        self.is_lstm = isinstance(controller, UniformLSTMCell)
        self.is_ring = isinstance(memory, RotatingTape)
        assert self.is_ring or isinstance(memory, PushPopStack)
        self.size = controller.recurrent.weight.shape[0]
        self.cells = min(most_cells, 2 * longest + 4 if self.is_ring else longest + 2)
        self.width = self.cells * memory.read_size
        # What is read goes into the hidden state, before the recurrent weights, with a bias of its own.
        recurrent = _array(controller.recurrent.weight)
        self.weights = (
            recurrent,
            _array(controller.input.weight)
            + _bias(controller.input)
            + _bias(controller.recurrent)
            + _bias(cell.reading) @ recurrent,
            _array(cell.reading.weight),
            np.concatenate([_array(memory.action.weight), _array(memory.value.weight)], 1),
            np.concatenate([_bias(memory.action), _bias(memory.value)]),
        )
        self.readout, self.readout_bias = _array(model.readout.weight), _bias(model.readout)

    def init(self, count: int) -> tuple[int, tuple[np.ndarray, ...]]:
        """How many symbols were read; hidden state, the LSTM's cell, memory, and room for the next memory."""
        small, large = (count, self.size), (count, self.width)
        return 0, tuple(np.zeros(shape, np.float32) for shape in (small, small, large, large))

    def step(self, state: tuple[int, tuple[np.ndarray, ...]], symbols: np.ndarray) -> tuple[Any, np.ndarray]:
        """Overwrites the state."""
        read, (hidden, cell, memory, room) = state
        decisions = _control(symbols, hidden, cell, memory, self.is_lstm, *self.weights)
        if self.is_ring:
            _turn(memory, room, decisions)
        else:
            _push_and_pop(memory, room, decisions, min(self.cells, read + 2))
        return (read + 1, (hidden, cell, room, memory)), _softmax(hidden @ self.readout + self.readout_bias)

    def take(self, state: tuple[int, tuple[np.ndarray, ...]], rows: np.ndarray) -> tuple[int, tuple[np.ndarray, ...]]:
        """Selects. The room has to be of the same size only, but what a stack has not reached must be zero."""
        read, (hidden, cell, memory, _) = state
        return read, (hidden[rows], cell[rows], memory[rows], np.zeros((len(rows), self.width), np.float32))


@compiled
def _control(
    symbols: np.ndarray,
    hidden: np.ndarray,
    cell: np.ndarray,
    memory: np.ndarray,
    is_lstm: bool,
    recurrent: np.ndarray,
    embedding: np.ndarray,
    reading: np.ndarray,
    decision: np.ndarray,
    decision_bias: np.ndarray,
) -> np.ndarray:
    """Updates `hidden` and `cell`; returns the weights of the moves and the value, one row each."""
    size = hidden.shape[1]
    cell_size = reading.shape[0]
    num_moves = decision.shape[1] - cell_size
    decisions = np.empty((len(symbols), decision.shape[1]), np.float32)
    heard = np.empty(size, np.float32)
    drive = np.empty(recurrent.shape[1], np.float32)
    one = np.float32(1)
    for row in range(len(symbols)):
        for j in range(size):
            heard[j] = hidden[row, j]
            for k in range(cell_size):
                heard[j] += memory[row, k] * reading[k, j]
        drive[:] = embedding[symbols[row]]
        for k in range(size):
            for j in range(len(drive)):
                drive[j] += heard[k] * recurrent[k, j]
        for j in range(size):
            if is_lstm:
                enter, new = one / (one + np.exp(-drive[j])), np.tanh(drive[size + j])
                keep, leave = one / (one + np.exp(-drive[2 * size + j])), one / (one + np.exp(-drive[3 * size + j]))
                cell[row, j] = keep * cell[row, j] + enter * new
                hidden[row, j] = leave * np.tanh(cell[row, j])
            else:
                hidden[row, j] = np.tanh(drive[j])
        values = decisions[row]
        values[:] = decision_bias
        for k in range(size):
            for j in range(len(values)):
                values[j] += hidden[row, k] * decision[k, j]
        largest = values[:num_moves].max()
        total = np.float32(0)
        for j in range(num_moves):
            values[j] = np.exp(values[j] - largest)
            total += values[j]
        for j in range(num_moves):
            values[j] /= total
        for j in range(num_moves, len(values)):
            values[j] = one / (one + np.exp(-values[j]))
    return decisions


@compiled(fastmath=True)
def _push_and_pop(memory: np.ndarray, room: np.ndarray, decisions: np.ndarray, used: int) -> None:
    """The stack afterwards, in `room`; only the first `used` cells can hold anything."""
    size = decisions.shape[1] - 2
    width = min((used + 1) * size, memory.shape[1])
    for row in range(len(memory)):
        push, pop = decisions[row, 0], decisions[row, 1]
        old, new, value = memory[row, :width], room[row, :width], decisions[row, 2:]
        # Views that begin where they are read from: with indices that cannot be negative, the loop is vectorised.
        inner, above, below = new[size : width - size], old[: width - 2 * size], old[2 * size :]
        for j in range(len(inner)):
            mixed = push * above[j] + pop * below[j]
            inner[j] = mixed if mixed > TINY else np.float32(0)
        for j in range(size):
            new[j] = push * value[j] + pop * old[size + j]
            new[width - size + j] = push * old[width - 2 * size + j]  # below it there is nothing


@compiled(fastmath=True)
def _turn(memory: np.ndarray, room: np.ndarray, decisions: np.ndarray) -> None:
    """The ring afterwards, in `room`."""
    size = decisions.shape[1] - 5
    width = memory.shape[1]
    for row in range(len(memory)):
        left, right, stay = decisions[row, 0], decisions[row, 1], decisions[row, 2]
        to_left, to_right = left + decisions[row, 4], right + decisions[row, 3]
        old, new, value = memory[row], room[row], decisions[row, 5:]
        inner, same, before, after = new[size : width - size], old[size:], old[: width - 2 * size], old[2 * size :]
        for j in range(len(inner)):
            mixed = to_left * after[j] + to_right * before[j] + stay * same[j]
            inner[j] = mixed if mixed > TINY else np.float32(0)
        for j in range(size):
            end = width - size + j
            new[j] = to_left * old[size + j] + right * old[end] + stay * old[j] + value[j]
            new[end] = left * old[j] + to_right * old[end - size] + stay * old[end]


class JaxStepper:
    """Any recurrent model."""

    def __init__(self, model: RecurrentModel, longest: int) -> None:
        arrays, static = eqx.partition(model, eqx.is_array)
        tokens = jnp.zeros(longest + 1, jnp.int32)

        @eqx.filter_jit
        def step(arrays: Any, state: Any, symbols: jax.Array) -> tuple[Any, jax.Array]:
            model = eqx.combine(arrays, static)
            state, logits = jax.vmap(model.step)(state, symbols)
            return state, jax.nn.softmax(logits)

        self._arrays = jax.tree.map(jnp.asarray, arrays)
        self._start = model.start(tokens)
        self._step = step
        self._take = jax.jit(lambda state, rows: jax.tree.map(lambda x: x[rows], state))

    def init(self, count: int) -> Any:
        """As many copies of the first state."""
        return jax.tree.map(lambda x: jnp.repeat(jnp.asarray(x)[None], count, 0), self._start)

    def step(self, state: Any, symbols: np.ndarray) -> tuple[Any, np.ndarray]:
        """All rows in one call."""
        state, distributions = self._step(self._arrays, state, jnp.asarray(symbols, jnp.int32))
        return state, np.asarray(distributions)

    def take(self, state: Any, rows: np.ndarray) -> Any:
        """Selects."""
        return self._take(state, jnp.asarray(rows, jnp.int32))


class Padded:
    """Shows a stepper only numbers of rows that are powers of two, at least `smallest`.

    For models compiled for each shape they meet: they meet few. The rows added are copies, and are not scored.
    """

    def __init__(self, stepper: Any, smallest: int = 64) -> None:
        self.stepper = stepper
        self.smallest = smallest

    def _rows(self, count: int) -> int:
        return max(self.smallest, 1 << (count - 1).bit_length())

    def init(self, count: int) -> Any:
        """More rows than asked for."""
        return self.stepper.init(self._rows(count))

    def step(self, state: Any, symbols: np.ndarray) -> tuple[Any, np.ndarray]:
        """Rows added read `#`."""
        count = len(symbols)
        state, distributions = self.stepper.step(state, np.pad(symbols, (0, self._rows(count) - count)))
        return state, np.asarray(distributions)[:count]

    def take(self, state: Any, rows: np.ndarray) -> Any:
        """Rows added are copies of the first."""
        return self.stepper.take(state, np.pad(rows, (0, self._rows(len(rows)) - len(rows))))
