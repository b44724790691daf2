"""The Stack-LSTM of Delétang et al. (2023): the Stack-RNN with an LSTM as its controller."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, ClassVar

from humboldt.models import models
from humboldt.models.options.recurrent import AbstractChomskyRecurrent
from humboldt.models.stack_rnn import StackRNN
from humboldt.settings import setting, settings

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from humboldt.models.networks.recurrent import RecurrentNetwork


@models.register("stack_lstm", version=1)
@settings
class StackLSTM(AbstractChomskyRecurrent):
    """An LSTM that holds one or more stacks, and a linear readout."""

    cell_size: int = setting(8, "numbers in a cell of a stack", "appendix A.2", least=1)
    num_stacks: int = setting(1, "stacks", "released code", least=1)

    title: ClassVar[str] = "Stack-LSTM"
    tiny: ClassVar[dict[str, Any]] = StackRNN.tiny

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: "PRNGKeyArray") -> "RecurrentNetwork":
        """The network, freshly initialised."""
        stack_rnn = StackRNN(**asdict(self), controller="lstm")
        return stack_rnn.build(input_size, output_size, num_symbols=num_symbols, key=key)
