"""A controller with a stack or a ring that reads many strings at once, in NumPy and Numba."""

from typing import Any

import numpy as np

from humboldt.compiled import compiled
from humboldt.models.cells.base import AbstractCell
from humboldt.models.cells.lstm import LSTMCell
from humboldt.models.cells.rnn import RNNCell
from humboldt.models.cells.with_memory import MarnnCell
from humboldt.models.layers.linear import Linear
from humboldt.models.memories.marnn import AbstractCells, PushPopStack, RotatingTape
from humboldt.models.stepping.arrays import as_array, bias_of, softmax

TINY = np.float32(1e-30)  # the least remainder of a popped value; below it, arithmetic is many times slower


def can_step(cell: AbstractCell) -> bool:
    """Returns whether `MarnnStepper` supports the cell's controller and memory."""
    if not isinstance(cell, MarnnCell) or not isinstance(cell.memory, PushPopStack | RotatingTape):
        return False
    controller = cell.controller
    is_lstm = isinstance(controller, LSTMCell) and controller.forget_offset == 0
    return is_lstm or (isinstance(controller, RNNCell) and controller.activation == "tanh")


class MarnnStepper:
    """A controller with a stack or a tape of as many cells as the strings can reach, at most `most_cells`."""

    def __init__(self, cell: MarnnCell, readout: Linear, longest: int, most_cells: int) -> None:
        assert can_step(cell)
        controller, memory = cell.controller, cell.memory
        assert isinstance(memory, AbstractCells)
        self.is_lstm = isinstance(controller, LSTMCell)
        self.is_ring = isinstance(memory, RotatingTape)
        self.size = controller.hidden_size
        self.cells = min(most_cells, 2 * longest + 4 if self.is_ring else longest + 2)
        self.width = self.cells * memory.read_size
        # The reading is added to the hidden state, before the recurrent weights, with its own bias.
        recurrent = as_array(controller.recurrent.weight)
        self.weights = (
            recurrent,
            as_array(controller.input.weight)
            + bias_of(controller.input)
            + bias_of(controller.recurrent)
            + bias_of(cell.reading) @ recurrent,
            as_array(cell.reading.weight),
            np.concatenate([as_array(memory.action.weight), as_array(memory.value.weight)], 1),
            np.concatenate([bias_of(memory.action), bias_of(memory.value)]),
        )
        self.readout, self.readout_bias = as_array(readout.weight), bias_of(readout)

    def init(self, count: int) -> tuple[int, tuple[np.ndarray, ...]]:
        """Returns the number of symbols read, and (hidden state, the LSTM's cell, memory, room for the next memory)."""
        small, large = (count, self.size), (count, self.width)
        return 0, tuple(np.zeros(shape, np.float32) for shape in (small, small, large, large))

    def step(self, state: tuple[int, tuple[np.ndarray, ...]], symbols: np.ndarray) -> tuple[Any, np.ndarray]:
        """Reads one symbol in every row. Overwrites the state."""
        read, (hidden, cell, memory, room) = state
        decisions = _control(symbols, hidden, cell, memory, self.is_lstm, *self.weights)
        if self.is_ring:
            _turn(memory, room, decisions)
        else:
            _push_and_pop(memory, room, decisions, min(self.cells, read + 2))
        return (read + 1, (hidden, cell, room, memory)), softmax(hidden @ self.readout + self.readout_bias)

    def take(self, state: tuple[int, tuple[np.ndarray, ...]], rows: np.ndarray) -> tuple[int, tuple[np.ndarray, ...]]:
        """Returns the selected rows. The room only needs the same size, but cells that a stack has not reached must be
        zero."""
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
    """Writes the next stack to `room`; only the first `used` cells can be non-zero."""
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
    """Writes the next ring to `room`."""
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
