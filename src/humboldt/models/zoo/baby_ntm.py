"""The Softmax Baby-NTM of Suzgun et al. (2019), as Lan et al. (2023) train it."""

from typing import TYPE_CHECKING, Any, ClassVar

from humboldt.models import models
from humboldt.models.zoo.shared.marnn import AbstractMarnn
from humboldt.settings import setting, settings

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from humboldt.models.cells.rnn import RNNCell
    from humboldt.models.memories.marnn import RotatingTape


@models.register("baby_ntm", version=1)
@settings
class BabyNTM(AbstractMarnn):
    """An RNN that turns and writes a ring of memory, and a linear readout."""

    tape_size: int = setting(2050, "cells of the ring", "appendix A.3, in training and in tests", least=1)

    title: ClassVar[str] = "Baby-NTM"
    family: ClassVar[str] = "NTM"
    tiny: ClassVar[dict[str, Any]] = {"hidden_size": 6, "memory_size": 3, "tape_size": 14}

    def make_controller(self, input_size: int, key: "PRNGKeyArray") -> "RNNCell":
        """Builds the controller, freshly initialised."""
        from humboldt.models.cells.rnn import uniform_rnn_cell

        return uniform_rnn_cell(input_size, self.hidden_size, key=key)

    def make_memory(self, key: "PRNGKeyArray") -> "RotatingTape":
        """Builds the memory, freshly initialised."""
        from humboldt.models.memories.marnn import RotatingTape

        return RotatingTape(self.hidden_size, cell_size=self.memory_size, most_cells=self.tape_size, key=key)
