"""Settings that recurrent models share."""

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from humboldt.core.problems import ProblemKind
from humboldt.settings import setting, settings

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from humboldt.models.memories.base import AbstractMemory
    from humboldt.models.networks.recurrent import RecurrentNetwork

ControllerName = Literal["rnn", "lstm"]
"""The cells of Delétang et al. (2023) that can hold a memory."""

STEPWISE = (ProblemKind.TRANSDUCTION, ProblemKind.NEXT_SYMBOL)
"""The kinds of problem for a network that answers at every step from the tokens up to it."""


@settings
class AbstractChomskyRecurrent:
    """Settings that the recurrent models of Delétang et al. (2023) share."""

    hidden_size: int = setting(256, "units of the recurrent layer", "appendix A.2", least=1)
    relu_readout: bool = setting(
        False, "whether a ReLU comes before the readout", "the paper is silent; released code: true", added_later=True
    )

    problems: ClassVar[tuple[ProblemKind, ...]] = STEPWISE


@settings
class AbstractChomskyStacks(AbstractChomskyRecurrent):
    """Settings that the models with one or more stacks share."""

    cell_size: int = setting(8, "numbers in a cell of a stack", "appendix A.2", least=1)
    num_stacks: int = setting(1, "stacks", "released code", least=1)

    tiny: ClassVar[dict[str, Any]] = {"hidden_size": 6, "cell_size": 3}


@settings
class AbstractChomskyMemory(AbstractChomskyRecurrent):
    """Settings that the models share whose controller, an RNN or an LSTM, holds a memory."""

    controller: ControllerName = setting("rnn", "the cell that holds the memory", "appendix A.2")

    @property
    def keeps_one_table(self) -> bool:
        """See `RecurrentNetwork`."""
        return False

    @abstractmethod
    def make_memory(self, key: "PRNGKeyArray") -> "AbstractMemory":
        """Builds the memory, freshly initialised."""

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: "PRNGKeyArray") -> "RecurrentNetwork":
        """Builds the network, freshly initialised."""
        from humboldt.models.networks.recurrent import memory_network

        return memory_network(
            self.controller,
            self.make_memory,
            input_size,
            output_size,
            hidden_size=self.hidden_size,
            num_symbols=num_symbols,
            relu_readout=self.relu_readout,
            keeps_one_table=self.keeps_one_table,
            key=key,
        )
