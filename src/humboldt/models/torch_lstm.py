"""The LSTM of Lan et al. (2023): the one of PyTorch."""

from dataclasses import dataclass

import jax
from jaxtyping import PRNGKeyArray

from humboldt.models import models
from humboldt.models._recurrent import RecurrentModel
from humboldt.models._uniform import UniformLSTMCell, uniform_linear


@models.register("torch_lstm", version=1)
@dataclass(frozen=True, kw_only=True)
class TorchLSTM:
    """One LSTM layer with PyTorch's initialisation, and a linear readout."""

    hidden_size: int = 32  # appendix A.2: 2, 32 or 128

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: PRNGKeyArray) -> RecurrentModel:
        """The network, freshly initialised."""
        k_cell, k_readout = jax.random.split(key)
        cell = UniformLSTMCell(input_size, self.hidden_size, key=k_cell)
        return RecurrentModel(
            cell, uniform_linear(self.hidden_size, output_size, key=k_readout), input_size, num_symbols
        )
