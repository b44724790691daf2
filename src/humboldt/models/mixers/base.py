"""Base classes of mixers: layers that mix the vectors of a sequence, for one example."""

from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array, Bool, Float


class AbstractMixer(eqx.Module):
    """Maps a sequence of vectors to a sequence of vectors, each computed from itself and the vectors before it.

    `__call__` reads all vectors at once, `step` one at a time; both return the same numbers, up to rounding. Nothing
    looks ahead, so padding at the end cannot change the result at a real position: a mixer may ignore the mask.
    """

    @abstractmethod
    def __call__(self, xs: Float[Array, "time width"], mask: Bool[Array, " time"]) -> Float[Array, "time width"]:
        """Reads all vectors at once; returns the outputs."""

    @abstractmethod
    def start(self) -> Any:
        """Returns the state before the first vector."""

    @abstractmethod
    def step(self, state: Any, x: Float[Array, " width"]) -> tuple[Any, Float[Array, " width"]]:
        """Reads one vector; returns the next state and the output."""


class AbstractValueMixer(AbstractMixer):
    """A mixer that can use the values of the same kind of mixer in the first layer of a network."""

    @abstractmethod
    def mix(
        self, xs: Float[Array, "time width"], mask: Bool[Array, " time"], first: Float[Array, "time width"] | None
    ) -> tuple[Float[Array, "time width"], Float[Array, "time width"]]:
        """Reads all vectors; returns outputs and values. `first`: the values of the first layer; `None` in that
        layer."""

    @abstractmethod
    def mix_step(
        self, state: Any, x: Float[Array, " width"], first: Float[Array, " width"] | None
    ) -> tuple[Any, Float[Array, " width"], Float[Array, " width"]]:
        """Reads one vector; returns the next state, the output and the values."""

    def __call__(self, xs: Float[Array, "time width"], mask: Bool[Array, " time"]) -> Float[Array, "time width"]:
        return self.mix(xs, mask, None)[0]

    def step(self, state: Any, x: Float[Array, " width"]) -> tuple[Any, Float[Array, " width"]]:
        state, output, _ = self.mix_step(state, x, None)
        return state, output


def fold(mixer: AbstractMixer, xs: Float[Array, "time width"]) -> Float[Array, "time width"]:
    """Returns the outputs of the mixer, computed step by step: the plain form that tests compare it with."""
    return jax.lax.scan(lambda state, x: mixer.step(state, x), mixer.start(), xs)[1]
