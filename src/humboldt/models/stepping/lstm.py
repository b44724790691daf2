"""An LSTM that reads many strings at once, in NumPy and Numba."""

from typing import Any

import numpy as np

from humboldt.compiled import compiled
from humboldt.models.cells.lstm import LSTMCell
from humboldt.models.layers.linear import Linear
from humboldt.models.stepping.arrays import as_array, bias_of, softmax

ROWS = 512  # whose gates fit the cache


class LSTMStepper:
    """An LSTM in single precision. A sigmoid is a shifted tanh, so one tanh call computes all gates, stored halved."""

    def __init__(self, cell: LSTMCell, readout: Linear, vectors: np.ndarray | None = None) -> None:
        """Takes the `vectors` of the symbols; by default they are one-hot."""
        self.size = cell.hidden_size
        halves = np.repeat(np.array([0.5, 1.0, 0.5, 0.5], np.float32), self.size)  # of the gates i, g, f, o
        bias = bias_of(cell.input) + bias_of(cell.recurrent)
        bias[2 * self.size : 3 * self.size] += np.float32(cell.forget_offset)
        self.recurrent = as_array(cell.recurrent.weight) * halves
        projected = as_array(cell.input.weight) if vectors is None else vectors @ as_array(cell.input.weight)
        self.embedding = (projected + bias) * halves
        self.readout, self.readout_bias = as_array(readout.weight), bias_of(readout)
        self._gates = np.empty((ROWS, 4 * self.size), np.float32)

    def init(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Returns states of zeros."""
        return np.zeros((count, self.size), np.float32), np.zeros((count, self.size), np.float32)

    def step(self, state: tuple[np.ndarray, np.ndarray], symbols: np.ndarray) -> tuple[Any, np.ndarray]:
        """Reads one symbol in every row. Overwrites the state."""
        for first in range(0, len(symbols), ROWS):
            hidden, cell = (array[first : first + ROWS] for array in state)
            gates = self._gates[: len(hidden)]
            np.matmul(hidden, self.recurrent, out=gates)
            _add_rows(gates, self.embedding, symbols[first : first + ROWS])
            np.tanh(gates, out=gates)
            _update_cell(gates, cell)
            np.tanh(cell, out=hidden)
            _apply_output_gate(gates, hidden)
        return state, softmax(state[0] @ self.readout + self.readout_bias)

    def take(self, state: tuple[np.ndarray, np.ndarray], rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns the states of the selected rows."""
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
