"""The Stack-RNN of Delétang et al. (2023)."""

from typing import TYPE_CHECKING, Any, ClassVar

from humboldt.models import models
from humboldt.models.options.recurrent import AbstractChomskyMemory
from humboldt.settings import setting, settings

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from humboldt.models.memories.stack import Stack


@models.register("stack_rnn", version=1)
@settings
class StackRNN(AbstractChomskyMemory):
    """An RNN (or LSTM) that holds one or more stacks, and a linear readout."""

    cell_size: int = setting(8, "numbers in a cell of a stack", "appendix A.2", least=1)
    num_stacks: int = setting(1, "stacks", "released code", least=1)

    title: ClassVar[str] = "Stack-RNN"
    tiny: ClassVar[dict[str, Any]] = {"hidden_size": 6, "cell_size": 3}

    def make_memory(self, key: "PRNGKeyArray") -> "Stack":
        """The memory, freshly initialised."""
        from humboldt.models.memories.stack import Stack

        return Stack(self.hidden_size, cell_size=self.cell_size, num_stacks=self.num_stacks, key=key)
