"""The LSTM of Delétang et al. (2023)."""

from typing import TYPE_CHECKING, Any, ClassVar

from humboldt.models import models
from humboldt.models.zoo.shared.recurrent import AbstractChomskyRecurrent
from humboldt.settings import settings

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from humboldt.models.networks.recurrent import RecurrentNetwork


@models.register("lstm", version=1)
@settings
class LSTM(AbstractChomskyRecurrent):
    """One LSTM layer and a linear readout. The forget gate has 1 added, as in the released code's library."""

    title: ClassVar[str] = "LSTM"
    family: ClassVar[str] = "LSTM"
    tiny: ClassVar[dict[str, Any]] = {"hidden_size": 6}

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: "PRNGKeyArray") -> "RecurrentNetwork":
        """Builds the network, freshly initialised."""
        import jax

        from humboldt.models.cells.lstm import normal_lstm_cell
        from humboldt.models.layers.linear import Linear
        from humboldt.models.networks.recurrent import RecurrentNetwork

        k_cell, k_readout = jax.random.split(key)
        cell = normal_lstm_cell(input_size, self.hidden_size, key=k_cell)
        readout = Linear(self.hidden_size, output_size, key=k_readout)
        return RecurrentNetwork(cell, readout, input_size, num_symbols, self.relu_readout)
