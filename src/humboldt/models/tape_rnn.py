"""The Tape-RNN of Delétang et al. (2023)."""

from dataclasses import dataclass

import jax
from jaxtyping import PRNGKeyArray

from humboldt.models import models
from humboldt.models._controllers import Controller, make_controller
from humboldt.models._linear import Linear
from humboldt.models._memory import MemoryCell
from humboldt.models._recurrent import RecurrentModel
from humboldt.models._tape import Tape


@models.register("tape_rnn", version=2)
@dataclass(frozen=True, kw_only=True)
class TapeRNN:
    """An RNN (or LSTM) that holds one or more tapes, and a linear readout."""

    hidden_size: int = 256  # appendix A.2
    cell_size: int = 8  # appendix A.2
    num_tapes: int = 1  # appendix A.4: 1 or 4
    tape_size: int = 256  # appendix A.2; larger where a sequence could reach further
    jumps_write: bool = False  # appendix A.2: jumps "without writing"; the released code writes first
    controller: Controller = "rnn"
    relu_readout: bool = False  # released code: true. added later: stays out of the identity at its default

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: PRNGKeyArray) -> RecurrentModel:
        """The network, freshly initialised."""
        k_controller, k_memory, k_reading, k_readout = jax.random.split(key, 4)
        tape = Tape(
            self.hidden_size,
            cell_size=self.cell_size,
            num_tapes=self.num_tapes,
            smallest=self.tape_size,
            jumps_write=self.jumps_write,
            key=k_memory,
        )
        controller, drive_size, fan_in = make_controller(
            self.controller, input_size, self.hidden_size, read_size=tape.read_size, key=k_controller
        )
        cell = MemoryCell(controller, tape, drive_size=drive_size, fan_in=fan_in, key=k_reading)
        readout = Linear(self.hidden_size, output_size, key=k_readout)
        return RecurrentModel(cell, readout, input_size, num_symbols, self.relu_readout)
