"""The Tape-RNN, for every kind of problem."""

from typing import TYPE_CHECKING, Any, ClassVar

from humboldt.models import models
from humboldt.models.zoo.shared.family import DELETANG, AbstractMemoryFamily
from humboldt.settings import setting, settings

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from humboldt.models.memories.tape import Tape


@models.register("family/tape_rnn", version=1)
@settings
class TapeRNN(AbstractMemoryFamily):
    """An embedding, an RNN (or LSTM) that holds one or more tapes, and a linear readout.

    A jump moves by the length of the input. Where nothing marks the end of the input (next-symbol problems, and
    classification), its length is not known in time, and a jump moves by one cell.
    """

    cell_size: int = setting(8, "numbers in a cell of a tape", DELETANG, least=1)
    num_tapes: int = setting(1, "tapes", "Delétang et al. 2023, appendix A.4: 1 or 4", least=1)
    tape_size: int = setting(256, "cells of a tape; it is longer where a string could reach further", DELETANG, least=1)

    title: ClassVar[str] = "Tape-RNN"
    family: ClassVar[str] = "Tape-RNN"
    about: ClassVar[str] = "an RNN with a tape that it can also jump on (Delétang et al. 2023)"
    tiny: ClassVar[dict[str, Any]] = {"hidden_size": 6, "cell_size": 3, "tape_size": 9}

    def make_memory(self, key: "PRNGKeyArray") -> "Tape":
        """Builds the memory, freshly initialised."""
        from humboldt.models.memories.tape import Tape

        return Tape(
            self.hidden_size,
            cell_size=self.cell_size,
            num_tapes=self.num_tapes,
            smallest=self.tape_size,
            jumps_write=False,
            causal=True,
            key=key,
        )
