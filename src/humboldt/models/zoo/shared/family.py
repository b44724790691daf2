"""Settings and facts that all families share. A family is an architecture for every kind of problem."""

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from humboldt.core.problems import ProblemKind
from humboldt.models.zoo.shared.recurrent import ControllerName
from humboldt.settings import setting, settings

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from humboldt.models.cells.base import AbstractCell
    from humboldt.models.memories.base import AbstractMemory
    from humboldt.models.networks.recurrent import RecurrentNetwork

PYTORCH = "our choice; initial weights are PyTorch's"
DELETANG = "Delétang et al. 2023, appendix A.2"


@settings
class AbstractFamily:
    """Facts of a family.

    - `causal`: its network reads tokens and answers at every step from the tokens up to it. Sequence-to-sequence
      problems are posed to it by concatenation; see `humboldt.models.forms`.
    - `size`: the setting by which its network is made larger or smaller.
    - `about`: what it is, in a line, with its paper.
    """

    problems: ClassVar[tuple[ProblemKind, ...]] = tuple(ProblemKind)
    causal: ClassVar[bool] = True
    size: ClassVar[str]
    title: ClassVar[str]
    family: ClassVar[str]
    about: ClassVar[str]


@settings
class AbstractRecurrentFamily(AbstractFamily):
    """An embedding, a recurrent cell and a linear readout."""

    hidden_size: int = setting(64, "units of the layer, and numbers in the vector of a token", PYTORCH, least=1)

    size: ClassVar[str] = "hidden_size"
    tiny: ClassVar[dict[str, Any]] = {"hidden_size": 6}
    keeps_one_table: ClassVar[bool] = False  # see `RecurrentNetwork`

    @abstractmethod
    def make_cell(self, key: "PRNGKeyArray") -> "AbstractCell":
        """Builds the cell, freshly initialised. Its input has `hidden_size` numbers."""

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: "PRNGKeyArray") -> "RecurrentNetwork":
        """Builds the network, freshly initialised."""
        from humboldt.models.networks.recurrent import embedded_network

        return embedded_network(
            self.make_cell,
            input_size,
            output_size,
            hidden_size=self.hidden_size,
            num_symbols=num_symbols,
            keeps_one_table=self.keeps_one_table,
            key=key,
        )


@settings
class AbstractMemoryFamily(AbstractRecurrentFamily):
    """A recurrent family whose cell, an RNN or an LSTM, holds a memory, as in Delétang et al. (2023)."""

    controller: ControllerName = setting(
        "rnn", "the cell that holds the memory", f"{DELETANG}; initial weights as in its released code"
    )

    @abstractmethod
    def make_memory(self, key: "PRNGKeyArray") -> "AbstractMemory":
        """Builds the memory, freshly initialised."""

    def make_cell(self, key: "PRNGKeyArray") -> "AbstractCell":
        """Builds the cell, freshly initialised."""
        import jax

        from humboldt.models.cells.with_memory import normal_memory_cell

        k_memory, k_controller, k_reading = jax.random.split(key, 3)
        return normal_memory_cell(
            self.controller,
            self.make_memory(k_memory),
            self.hidden_size,
            self.hidden_size,
            k_controller=k_controller,
            k_reading=k_reading,
        )
