"""Base classes of recurrent cells: one time step of one example."""

from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from humboldt.core.internals import TIME, Internal
from humboldt.models.layers.linear import Linear


class Extent(NamedTuple):
    """The length of one run. The padded length may determine how much memory is allocated, but never a result."""

    num_steps: int  # with padding: a shape
    real_steps: Int[Array, ""]  # without: data
    input_length: Int[Array, ""]  # how many of them read the input, for memories that can move by that much
    keeps_all: bool = False  # whether a memory also keeps what can never be read again, for inspection

    @classmethod
    def of(cls, mask: Bool[Array, " time"], *, input_length: Int[Array, ""] | None = None) -> "Extent":
        """Returns the extent of a run whose real steps are those in the mask. By default all of them are input."""
        real_steps = mask.sum(dtype=jnp.int32)
        return cls(len(mask), real_steps, real_steps if input_length is None else input_length)


class AbstractCell(eqx.Module):
    """`(state, drive) -> (state, output)`, in the order that `jax.lax.scan` needs.

    `project` is the part of a step that needs no state. It is separate because, applied to all time steps at once, it
    is one large matrix product instead of many small ones.

    On an accelerator `unroll` takes the gradients of all weights out of the loop over time. For that a cell must use
    its linear layers as they are: each is called at most once per step (not `x @ layer.weight`), and the output of a
    layer made with `joins_drive=True` is added to the drive, and used for nothing else. `check_gradients` in
    `humboldt.models.loop.check` compares the gradients of a network with those of a plain loop; it is run for every
    model that is registered from outside Humboldt.
    """

    @abstractmethod
    def project(self, x: Float[Array, " in"]) -> Float[Array, " drive"]:
        """Returns the contribution of the input alone to a step."""

    @abstractmethod
    def init_state(self, extent: Extent) -> Any:
        """Returns the state before the first step, with memories just large enough for the run."""

    @abstractmethod
    def __call__(self, state: Any, drive: Float[Array, " drive"]) -> tuple[Any, Float[Array, " hidden"]]:
        """Takes one step; returns the new state and the output."""

    def internals(self, states: Any, outputs: Float[Array, "time hidden"]) -> dict[str, Internal]:
        """Returns the inspectable arrays by name. `states` and `outputs` have a leading axis of time."""
        del states
        return {"outputs": Internal(outputs, (TIME, "unit"))}


class AbstractController(AbstractCell):
    """A cell that can hold a memory: one layer on the input, one on the hidden state.

    Its state is a tuple of vectors that begins with the hidden state, all zeros at first.
    """

    input: eqx.AbstractVar[Linear]
    recurrent: eqx.AbstractVar[Linear]
    vectors: ClassVar[tuple[str, ...]]  # the names of the vectors of the state

    @property
    def hidden_size(self) -> int:
        """Number of units of the hidden state."""
        return self.recurrent.weight.shape[0]

    @property
    def drive_size(self) -> int:
        """Size of the vector that drives a step."""
        return self.recurrent.weight.shape[1]

    def project(self, x: Float[Array, " in"]) -> Float[Array, " drive"]:
        return self.input(x)

    def init_state(self, extent: Extent) -> tuple[Float[Array, " hidden"], ...]:
        del extent
        return tuple(jnp.zeros(self.hidden_size, self.recurrent.weight.dtype) for _ in self.vectors)

    def internals(self, states: Any, outputs: Float[Array, "time hidden"]) -> dict[str, Internal]:
        del outputs  # which are the hidden states
        return {name: Internal(vector, (TIME, "unit")) for name, vector in zip(self.vectors, states, strict=True)}
