"""The Stack-RNN of Delétang et al. (2023)."""

from typing import TYPE_CHECKING, Any, ClassVar

from humboldt.models import models
from humboldt.models.options.recurrent import AbstractChomskyRecurrent, ControllerName
from humboldt.settings import setting, settings

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from humboldt.models.memories.stack import Stack
    from humboldt.models.networks.recurrent import RecurrentNetwork


@models.register("stack_rnn", version=1)
@settings
class StackRNN(AbstractChomskyRecurrent):
    """An RNN (or LSTM) that holds one or more stacks, and a linear readout."""

    cell_size: int = setting(8, "numbers in a cell of a stack", "appendix A.2", least=1)
    num_stacks: int = setting(1, "stacks", "released code", least=1)
    controller: ControllerName = setting("rnn", "the cell that holds the stacks", "appendix A.2")

    title: ClassVar[str] = "Stack-RNN"
    tiny: ClassVar[dict[str, Any]] = {"hidden_size": 6, "cell_size": 3}

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: "PRNGKeyArray") -> "RecurrentNetwork":
        """The network, freshly initialised."""
        from humboldt.models.memories.stack import Stack
        from humboldt.models.networks.recurrent import memory_network

        def make_stack(key: "PRNGKeyArray") -> "Stack":
            return Stack(self.hidden_size, cell_size=self.cell_size, num_stacks=self.num_stacks, key=key)

        return memory_network(
            self.controller,
            make_stack,
            input_size,
            output_size,
            hidden_size=self.hidden_size,
            num_symbols=num_symbols,
            relu_readout=self.relu_readout,
            key=key,
        )
