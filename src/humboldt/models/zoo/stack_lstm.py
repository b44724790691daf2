"""The Stack-LSTM of Delétang et al. (2023): the Stack-RNN with an LSTM as its controller."""

from dataclasses import asdict
from typing import TYPE_CHECKING, ClassVar

from humboldt.models import models
from humboldt.models.zoo.shared.recurrent import AbstractChomskyStacks
from humboldt.models.zoo.stack_rnn import StackRNN
from humboldt.settings import settings

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from humboldt.models.networks.recurrent import RecurrentNetwork


@models.register("stack_lstm", version=1)
@settings
class StackLSTM(AbstractChomskyStacks):
    """An LSTM that holds one or more stacks, and a linear readout."""

    title: ClassVar[str] = "Stack-LSTM"
    family: ClassVar[str] = "Stack-LSTM"

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: "PRNGKeyArray") -> "RecurrentNetwork":
        """Builds the network, freshly initialised."""
        stack_rnn = StackRNN(**asdict(self), controller="lstm")
        return stack_rnn.build(input_size, output_size, num_symbols=num_symbols, key=key)
