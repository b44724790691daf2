"""The Stack-RNN, for every kind of problem."""

from typing import TYPE_CHECKING, Any, ClassVar

from humboldt.models import models
from humboldt.models.zoo.shared.family import DELETANG, AbstractMemoryFamily
from humboldt.settings import setting, settings

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from humboldt.models.memories.stack import Stack


@models.register("family/stack_rnn", version=1)
@settings
class StackRNN(AbstractMemoryFamily):
    """An embedding, an RNN (or LSTM) that holds one or more stacks, and a linear readout."""

    cell_size: int = setting(8, "numbers in a cell of a stack", DELETANG, least=1)
    num_stacks: int = setting(1, "stacks", "released code of Delétang et al. 2023", least=1)

    title: ClassVar[str] = "Stack-RNN"
    family: ClassVar[str] = "Stack-RNN"
    about: ClassVar[str] = "an RNN with a differentiable stack (Joulin and Mikolov 2015; Delétang et al. 2023)"
    tiny: ClassVar[dict[str, Any]] = {"hidden_size": 6, "cell_size": 3}

    def make_memory(self, key: "PRNGKeyArray") -> "Stack":
        """Builds the memory, freshly initialised."""
        from humboldt.models.memories.stack import Stack

        return Stack(self.hidden_size, cell_size=self.cell_size, num_stacks=self.num_stacks, key=key)
