"""Settings of the memory-augmented networks of Suzgun et al. (2019), as Lan et al. (2023) train them."""

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from humboldt.core.problems import ProblemKind
from humboldt.models.zoo.shared.recurrent import STEPWISE
from humboldt.settings import setting, settings

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from humboldt.models.cells.base import AbstractController
    from humboldt.models.memories.base import AbstractMemory
    from humboldt.models.networks.recurrent import RecurrentNetwork


@settings
class AbstractMarnn:
    """Settings that the Stack-LSTM and the Baby-NTM share."""

    hidden_size: int = setting(8, "units of the controller", "appendix A.3", least=1)
    memory_size: int = setting(5, "numbers in a cell of the memory", 'appendix A.3, "memory dimension"', least=1)

    problems: ClassVar[tuple[ProblemKind, ...]] = STEPWISE

    @abstractmethod
    def make_controller(self, input_size: int, key: "PRNGKeyArray") -> "AbstractController":
        """Builds the controller, freshly initialised."""

    @abstractmethod
    def make_memory(self, key: "PRNGKeyArray") -> "AbstractMemory":
        """Builds the memory, freshly initialised."""

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: "PRNGKeyArray") -> "RecurrentNetwork":
        """Builds the network, freshly initialised."""
        from humboldt.models.networks.recurrent import marnn_network

        return marnn_network(
            lambda key: self.make_controller(input_size, key),
            self.make_memory,
            input_size,
            output_size,
            num_symbols=num_symbols,
            key=key,
        )
