"""What a recurrent network does at one time step, for one example."""

from abc import abstractmethod
from typing import Any

import equinox as eqx
from jaxtyping import Array, Float, Int


class AbstractCell(eqx.Module):
    """`(state, drive) -> (state, output)`, in the order `jax.lax.scan` wants.

    `project` is the part of a step that needs no state. Applied to all time steps at once it is one large matrix
    product instead of many small ones, which is why it is apart.
    """

    @abstractmethod
    def project(self, x: Float[Array, " in"]) -> Float[Array, " drive"]:
        """What the input alone contributes to a step."""

    @abstractmethod
    def init_state(self, *, num_steps: int, input_length: Int[Array, ""]) -> Any:
        """The state before the first step.

        **Arguments:**

        - `num_steps`: how many steps there will be at most; memories are made just large enough for it.
        - `input_length`: how many symbols the input has, for memories that can move by that much.
        """

    @abstractmethod
    def __call__(self, state: Any, drive: Float[Array, " drive"]) -> tuple[Any, Float[Array, " hidden"]]:
        """One step."""
