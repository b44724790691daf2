"""The Tape-RNN of Delétang et al. (2023)."""

from typing import TYPE_CHECKING, Any, ClassVar

from humboldt.models import models
from humboldt.models.zoo.shared.recurrent import AbstractChomskyMemory
from humboldt.settings import setting, settings

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from humboldt.models.memories.tape import Tape


@models.register("tape_rnn", version=2)
@settings
class TapeRNN(AbstractChomskyMemory):
    """An RNN (or LSTM) that holds one or more tapes, and a linear readout."""

    cell_size: int = setting(8, "numbers in a cell of a tape", "appendix A.2", least=1)
    num_tapes: int = setting(1, "tapes", "appendix A.4: 1 or 4", least=1)
    tape_size: int = setting(
        256, "cells of a tape; it is longer where a string could reach further", "appendix A.2", least=1
    )
    jumps_write: bool = setting(
        False, "whether a jump writes first", 'appendix A.2: jumps "without writing"; released code: true'
    )

    title: ClassVar[str] = "Tape-RNN"
    family: ClassVar[str] = "Tape-RNN"
    tiny: ClassVar[dict[str, Any]] = {"hidden_size": 6, "cell_size": 3, "tape_size": 9}

    def make_memory(self, key: "PRNGKeyArray") -> "Tape":
        """Builds the memory, freshly initialised."""
        from humboldt.models.memories.tape import Tape

        return Tape(
            self.hidden_size,
            cell_size=self.cell_size,
            num_tapes=self.num_tapes,
            smallest=self.tape_size,
            jumps_write=self.jumps_write,
            key=key,
        )
