"""The Stack-RNN of Delétang et al. (2023)."""

from typing import TYPE_CHECKING, ClassVar

from humboldt.models import models
from humboldt.models.zoo.shared.recurrent import AbstractChomskyMemory, AbstractChomskyStacks
from humboldt.settings import settings

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from humboldt.models.memories.stack import Stack


@models.register("stack_rnn", version=1)
@settings
class StackRNN(AbstractChomskyStacks, AbstractChomskyMemory):
    """An RNN (or LSTM) that holds one or more stacks, and a linear readout."""

    title: ClassVar[str] = "Stack-RNN"
    family: ClassVar[str] = "Stack-RNN"

    def make_memory(self, key: "PRNGKeyArray") -> "Stack":
        """Builds the memory, freshly initialised."""
        from humboldt.models.memories.stack import Stack

        return Stack(self.hidden_size, cell_size=self.cell_size, num_stacks=self.num_stacks, key=key)
