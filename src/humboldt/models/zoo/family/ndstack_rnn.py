"""The NDStack-RNN, for every kind of problem."""

from typing import TYPE_CHECKING, ClassVar

from humboldt.models import models
from humboldt.models.zoo.shared.family import DELETANG, AbstractMemoryFamily
from humboldt.settings import setting, settings

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from humboldt.models.memories.ndstack import NDStack


@models.register("family/ndstack_rnn", version=1)
@settings
class NDStackRNN(AbstractMemoryFamily):
    """An embedding, an RNN (or LSTM) that holds a nondeterministic stack, and a linear readout."""

    num_states: int = setting(2, "states of the automaton", DELETANG, least=1)
    num_stack_symbols: int = setting(2, "symbols of the stack", f"{DELETANG}: 2 or 4", least=1)

    title: ClassVar[str] = "NDStack-RNN"
    family: ClassVar[str] = "NDStack-RNN"
    about: ClassVar[str] = "an RNN with a nondeterministic stack (DuSell and Chiang 2022)"
    keeps_one_table: ClassVar[bool] = True

    def state_bytes(self, length: int) -> int:
        """Returns the bytes of the stack's table for a string of this length."""
        return 4 * (self.num_states * self.num_stack_symbols * length) ** 2

    def make_memory(self, key: "PRNGKeyArray") -> "NDStack":
        """Builds the memory, freshly initialised."""
        from humboldt.models.memories.ndstack import NDStack

        return NDStack(
            self.hidden_size,
            num_states=self.num_states,
            num_symbols=self.num_stack_symbols,
            read_states=True,
            fading=False,
            key=key,
        )
