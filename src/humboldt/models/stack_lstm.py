"""The Stack-LSTM of Delétang et al. (2023): the Stack-RNN with an LSTM as its controller."""

from dataclasses import dataclass

from jaxtyping import PRNGKeyArray

from humboldt.models import models
from humboldt.models._recurrent import RecurrentModel
from humboldt.models.stack_rnn import StackRNN


@models.register("stack_lstm", version=1)
@dataclass(frozen=True, kw_only=True)
class StackLSTM:
    """An LSTM that holds a stack, and a linear readout."""

    hidden_size: int = 256  # appendix A.2
    cell_size: int = 8  # appendix A.2
    num_stacks: int = 1  # released code
    relu_readout: bool = False  # released code: true. added later: stays out of the identity at its default

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: PRNGKeyArray) -> RecurrentModel:
        """The network, freshly initialised."""
        spec = StackRNN(
            hidden_size=self.hidden_size,
            cell_size=self.cell_size,
            num_stacks=self.num_stacks,
            controller="lstm",
            relu_readout=self.relu_readout,
        )
        return spec.build(input_size, output_size, num_symbols=num_symbols, key=key)
