"""The GRU, for every kind of problem."""

from typing import TYPE_CHECKING, ClassVar

from humboldt.models import models
from humboldt.models.zoo.shared.family import AbstractRecurrentFamily
from humboldt.settings import settings

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from humboldt.models.cells.gru import GRUCell


@models.register("family/gru", version=1)
@settings
class GRU(AbstractRecurrentFamily):
    """An embedding, one GRU layer and a linear readout, as in PyTorch."""

    title: ClassVar[str] = "GRU"
    family: ClassVar[str] = "GRU"
    about: ClassVar[str] = "gated recurrent units (Cho et al. 2014)"

    def make_cell(self, key: "PRNGKeyArray") -> "GRUCell":
        """Builds the cell, freshly initialised."""
        from humboldt.models.cells.gru import uniform_gru_cell

        return uniform_gru_cell(self.hidden_size, self.hidden_size, key=key)
