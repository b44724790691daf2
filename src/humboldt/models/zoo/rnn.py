"""The RNN of Delétang et al. (2023)."""

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from humboldt.models import models
from humboldt.models.zoo.shared.recurrent import AbstractChomskyRecurrent
from humboldt.settings import setting, settings

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from humboldt.models.networks.recurrent import RecurrentNetwork


@models.register("rnn", version=1)
@settings
class RNN(AbstractChomskyRecurrent):
    """One vanilla recurrent layer and a linear readout."""

    activation: Literal["relu", "tanh"] = setting(
        "relu", "activation of the layer", "the paper is silent; its released code (Haiku's VanillaRNN) has ReLU"
    )

    title: ClassVar[str] = "RNN"
    family: ClassVar[str] = "RNN"
    tiny: ClassVar[dict[str, Any]] = {"hidden_size": 6}

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: "PRNGKeyArray") -> "RecurrentNetwork":
        """Builds the network, freshly initialised."""
        import jax

        from humboldt.models.cells.rnn import normal_rnn_cell
        from humboldt.models.layers.linear import Linear
        from humboldt.models.networks.recurrent import RecurrentNetwork

        k_cell, k_readout = jax.random.split(key)
        cell = normal_rnn_cell(input_size, self.hidden_size, activation=self.activation, key=k_cell)
        readout = Linear(self.hidden_size, output_size, key=k_readout)
        return RecurrentNetwork(cell, readout, input_size, num_symbols, self.relu_readout)
