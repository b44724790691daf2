"""The LSTM, for every kind of problem."""

from typing import TYPE_CHECKING, ClassVar

from humboldt.models import models
from humboldt.models.zoo.shared.family import AbstractRecurrentFamily
from humboldt.settings import settings

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from humboldt.models.cells.lstm import LSTMCell


@models.register("family/lstm", version=1)
@settings
class LSTM(AbstractRecurrentFamily):
    """An embedding, one LSTM layer and a linear readout, as in PyTorch."""

    title: ClassVar[str] = "LSTM"
    family: ClassVar[str] = "LSTM"
    about: ClassVar[str] = "long short-term memory with forget gates (Hochreiter and Schmidhuber 1997)"

    def make_cell(self, key: "PRNGKeyArray") -> "LSTMCell":
        """Builds the cell, freshly initialised."""
        import jax

        from humboldt.models.cells.lstm import uniform_lstm_cell

        return uniform_lstm_cell(self.hidden_size, self.hidden_size, keys=jax.random.split(key))
