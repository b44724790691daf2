"""The NDStack-RNN of Delétang et al. (2023)."""

from dataclasses import dataclass

import jax
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from humboldt.models import models
from humboldt.models._controllers import Controller, make_controller
from humboldt.models._linear import Linear
from humboldt.models._memory import MemoryCell
from humboldt.models._ndstack import NDStack, unroll_over_one_table
from humboldt.models._recurrent import RecurrentModel


class NDStackModel(RecurrentModel):
    """A `RecurrentModel` whose gradients take memory for one table of the stack, instead of one for each step.

    Only the loop differs, so it is the one model to be derived from another.
    """

    def __call__(
        self, tokens: Int[Array, " time"], mask: Bool[Array, " time"], *, key: PRNGKeyArray | None = None
    ) -> Float[Array, "time out"]:
        del key
        outputs = unroll_over_one_table(self.cell, self.start(tokens, mask), self._one_hot(tokens))
        return jax.vmap(self._logits)(outputs)


@models.register("ndstack_rnn", version=1)
@dataclass(frozen=True, kw_only=True)
class NDStackRNN:
    """An RNN (or LSTM) that holds a nondeterministic stack, and a linear readout.

    By default it is the stack of the papers: a softmax for each state and top symbol, and readings that sum to one.
    The released code differs, in ways that matter to what can be learnt; `fading=True` gives the same readings as it:

    - One softmax spans the actions of all states and top symbols, so that the weight of all runs shrinks at every
      step, to about 1 / (states x symbols) of what it was.
    - The reading is divided by this weight plus 0.001 and so fades as the weight does: a network as initialised reads
      next to nothing after some ten steps, however long the input is.
    - Nothing is read at the first step, where the papers' stack shows its bottom symbol.

    In one more way the released code differs that has no setting: its stack has 30 places by default, and once they
    are used up, it stays as it is. Here it is as large as the input needs.
    """

    hidden_size: int = 256  # appendix A.2
    num_states: int = 2  # appendix A.2
    num_stack_symbols: int = 2  # appendix A.2: 2 or 4
    read_states: bool = True  # appendix A.4: with or without
    fading: bool = False  # appendix A.2: "normalized actions"; the released code's are fading
    controller: Controller = "rnn"
    relu_readout: bool = False  # released code: true. added later: stays out of the identity at its default

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: PRNGKeyArray) -> NDStackModel:
        """The network, freshly initialised."""
        k_controller, k_memory, k_reading, k_readout = jax.random.split(key, 4)
        stack = NDStack(
            self.hidden_size,
            num_states=self.num_states,
            num_symbols=self.num_stack_symbols,
            read_states=self.read_states,
            fading=self.fading,
            key=k_memory,
        )
        controller, drive_size, fan_in = make_controller(
            self.controller, input_size, self.hidden_size, read_size=stack.read_size, key=k_controller
        )
        cell = MemoryCell(controller, stack, drive_size=drive_size, fan_in=fan_in, key=k_reading)
        readout = Linear(self.hidden_size, output_size, key=k_readout)
        return NDStackModel(cell, readout, input_size, num_symbols, self.relu_readout)
