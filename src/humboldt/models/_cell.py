"""What a recurrent network does at one time step, for one example."""

from abc import abstractmethod
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int


class Extent(NamedTuple):
    """How long one run is. The padded length may decide how much room is made, but never a result."""

    num_steps: int  # with padding: a shape
    real_steps: Int[Array, ""]  # without: data
    input_length: Int[Array, ""]  # how many of them read the input, for memories that can move by that much

    @classmethod
    def of(cls, mask: Bool[Array, " time"], *, input_length: Int[Array, ""] | None = None) -> "Extent":
        """Of a run over steps of which those in the mask are real. Unless told otherwise, all of them are input."""
        real_steps = mask.sum(dtype=jnp.int32)
        return cls(len(mask), real_steps, real_steps if input_length is None else input_length)


class AbstractCell(eqx.Module):
    """`(state, drive) -> (state, output)`, in the order `jax.lax.scan` wants.

    `project` is the part of a step that needs no state. Applied to all time steps at once it is one large matrix
    product instead of many small ones, which is why it is apart.
    """

    @abstractmethod
    def project(self, x: Float[Array, " in"]) -> Float[Array, " drive"]:
        """What the input alone contributes to a step."""

    @abstractmethod
    def init_state(self, extent: Extent) -> Any:
        """The state before the first step. Memories are made just large enough for the run."""

    @abstractmethod
    def __call__(self, state: Any, drive: Float[Array, " drive"]) -> tuple[Any, Float[Array, " hidden"]]:
        """One step."""
