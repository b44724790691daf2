"""The plain recurrent network, for every kind of problem."""

from typing import TYPE_CHECKING, ClassVar, Literal

from humboldt.models import models
from humboldt.models.zoo.shared.family import PYTORCH, AbstractRecurrentFamily
from humboldt.settings import setting, settings

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from humboldt.models.cells.rnn import RNNCell


@models.register("family/rnn", version=1)
@settings
class RNN(AbstractRecurrentFamily):
    """An embedding, one recurrent layer and a linear readout, as in PyTorch."""

    activation: Literal["relu", "tanh"] = setting("tanh", "activation of the layer", PYTORCH)

    title: ClassVar[str] = "RNN"
    family: ClassVar[str] = "RNN"
    about: ClassVar[str] = "a plain recurrent layer (Elman 1990)"

    def make_cell(self, key: "PRNGKeyArray") -> "RNNCell":
        """Builds the cell, freshly initialised."""
        from dataclasses import replace

        from humboldt.models.cells.rnn import uniform_rnn_cell

        return replace(uniform_rnn_cell(self.hidden_size, self.hidden_size, key=key), activation=self.activation)
