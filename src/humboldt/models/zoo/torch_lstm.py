"""The LSTM of Lan et al. (2023): the one of PyTorch."""

from typing import TYPE_CHECKING, Any, ClassVar

from humboldt.core.problems import ProblemKind
from humboldt.models import models
from humboldt.models.zoo.shared.recurrent import STEPWISE
from humboldt.settings import setting, settings

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from humboldt.models.networks.recurrent import RecurrentNetwork


@models.register("torch_lstm", version=2)
@settings
class TorchLSTM:
    """One LSTM layer with PyTorch's initialisation, and a linear readout."""

    hidden_size: int = setting(32, "units of the LSTM", "appendix A.2: 2, 32 or 128", least=1)

    title: ClassVar[str] = "LSTM (PyTorch)"
    family: ClassVar[str] = "LSTM"
    problems: ClassVar[tuple[ProblemKind, ...]] = STEPWISE
    tiny: ClassVar[dict[str, Any]] = {"hidden_size": 6}

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: "PRNGKeyArray") -> "RecurrentNetwork":
        """Builds the network, freshly initialised."""
        import jax

        from humboldt.models.cells.lstm import uniform_lstm_cell
        from humboldt.models.layers.linear import uniform_linear
        from humboldt.models.networks.recurrent import RecurrentNetwork

        k_cell, k_readout = jax.random.split(key)
        cell = uniform_lstm_cell(input_size, self.hidden_size, keys=jax.random.split(k_cell))
        readout = uniform_linear(self.hidden_size, output_size, key=k_readout)
        return RecurrentNetwork(cell, readout, input_size, num_symbols)
