"""The NDStack-RNN of Delétang et al. (2023)."""

from typing import TYPE_CHECKING, Any, ClassVar

from humboldt.models import models
from humboldt.models.zoo.shared.recurrent import AbstractChomskyMemory
from humboldt.settings import setting, settings

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from humboldt.models.memories.ndstack import NDStack


@models.register("ndstack_rnn", version=1)
@settings
class NDStackRNN(AbstractChomskyMemory):
    """An RNN (or LSTM) that holds a nondeterministic stack, and a linear readout.

    By default it is the stack of the papers: a softmax for each state and top symbol, and readings that sum to one.
    The released code differs, in ways that matter to what can be learnt; `fading=True` gives the same readings as it:

    - One softmax spans the actions of all states and top symbols, so that the weight of all runs shrinks at every
      step, to about 1 / (states x symbols) of what it was.
    - The reading is divided by this weight plus 0.001 and so fades as the weight does: a network as initialised reads
      next to nothing after some ten steps, however long the input is.
    - Nothing is read at the first step, where the papers' stack shows its bottom symbol.

    In the released code the stack has 30 places by default: one for each step, and once they are used up, it stays as
    it is. Here it is as large as the input needs; `stack_size` sets a number of places. With one place the network is
    a plain RNN.
    """

    num_states: int = setting(2, "states of the automaton", "appendix A.2", least=1)
    num_stack_symbols: int = setting(2, "symbols of the stack", "appendix A.2: 2 or 4", least=1)
    read_states: bool = setting(
        True, "whether the state is read together with the top symbol", "appendix A.4: with or without"
    )
    fading: bool = setting(
        False,
        "whether readings fade as in the released code",
        'appendix A.2: "normalized actions"; released code: true',
    )

    stack_size: int | None = setting(
        None,
        "places of the stack, one for each step; none: as many as there are steps",
        "appendix B.6: also 1; released code: 30",
        least=1,
        added_later=True,
    )

    title: ClassVar[str] = "NDStack-RNN"
    family: ClassVar[str] = "NDStack-RNN"
    tiny: ClassVar[dict[str, Any]] = {"hidden_size": 6}

    @property
    def keeps_one_table(self) -> bool:
        """Whether the table is long; one of few places is kept for every step."""
        return self.stack_size is None

    def make_memory(self, key: "PRNGKeyArray") -> "NDStack":
        """Builds the memory, freshly initialised."""
        from humboldt.models.memories.ndstack import NDStack

        return NDStack(
            self.hidden_size,
            num_states=self.num_states,
            num_symbols=self.num_stack_symbols,
            read_states=self.read_states,
            fading=self.fading,
            places=self.stack_size,
            key=key,
        )
