"""The controllers that hold a memory, by name."""

from typing import Literal

from jaxtyping import PRNGKeyArray

from humboldt.models._cell import AbstractCell
from humboldt.models.lstm import LSTMCell
from humboldt.models.rnn import RNNCell

Controller = Literal["rnn", "lstm"]


def make_controller(
    name: Controller, input_size: int, hidden_size: int, *, read_size: int, key: PRNGKeyArray
) -> tuple[AbstractCell, int, int]:
    """The cell, the size of its drive, and the fan-in of its input, which counts what it reads from the memory."""
    if name == "rnn":
        fan_in = input_size + read_size
        return RNNCell(input_size, hidden_size, activation="relu", fan_in=fan_in, key=key), hidden_size, fan_in
    fan_in = input_size + read_size + hidden_size
    return LSTMCell(input_size, hidden_size, fan_in=fan_in, key=key), 4 * hidden_size, fan_in
