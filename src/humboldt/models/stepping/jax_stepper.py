"""Steppers for any causal network, run by JAX."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from humboldt.core.stepping import FromStrings
from humboldt.models.networks.base import AbstractStepwise


class JaxStepper:
    """A stepper for any network with `start` and `step`, compiled by JAX."""

    def __init__(self, network: AbstractStepwise, longest: int) -> None:
        arrays, static = eqx.partition(network, eqx.is_array)
        tokens = jnp.zeros(longest + 1, jnp.int32)

        @eqx.filter_jit
        def step(arrays: Any, state: Any, symbols: jax.Array) -> tuple[Any, jax.Array]:
            network = eqx.combine(arrays, static)
            state, logits = jax.vmap(network.step)(state, symbols)
            return state, jax.nn.softmax(logits)

        self._arrays = jax.tree.map(jnp.asarray, arrays)
        self._start = network.start(tokens)
        self._step = step
        self._take = jax.jit(lambda state, rows: jax.tree.map(lambda x: x[rows], state))

    def init(self, count: int) -> Any:
        """Returns `count` copies of the first state."""
        return jax.tree.map(lambda x: jnp.repeat(jnp.asarray(x)[None], count, 0), self._start)

    def step(self, state: Any, symbols: np.ndarray) -> tuple[Any, np.ndarray]:
        """Steps all rows in one call."""
        state, distributions = self._step(self._arrays, state, jnp.asarray(symbols, jnp.int32))
        return state, np.asarray(distributions)

    def take(self, state: Any, rows: np.ndarray) -> Any:
        """Returns the states of the selected rows."""
        return self._take(state, jnp.asarray(rows, jnp.int32))


class Padded:
    """Pads the number of rows given to a stepper to a power of two, at least `smallest`.

    For models that are compiled for each shape, so that there are few shapes. Added rows are copies, and not scored.
    """

    def __init__(self, stepper: Any, smallest: int = 64) -> None:
        self.stepper = stepper
        self.smallest = smallest

    def _rows(self, count: int) -> int:
        return max(self.smallest, 1 << (count - 1).bit_length())

    def init(self, count: int) -> Any:
        """Returns the first state of `count` rows and the rows added to them."""
        return self.stepper.init(self._rows(count))

    def step(self, state: Any, symbols: np.ndarray) -> tuple[Any, np.ndarray]:
        """Steps all rows. Added rows read `#`."""
        count = len(symbols)
        state, distributions = self.stepper.step(state, np.pad(symbols, (0, self._rows(count) - count)))
        return state, np.asarray(distributions)[:count]

    def take(self, state: Any, rows: np.ndarray) -> Any:
        """Returns the selected rows. Added rows are copies of the first."""
        return self.stepper.take(state, np.pad(rows, (0, self._rows(len(rows)) - len(rows))))


def string_reader(network: Any, pairs: int) -> FromStrings:
    """Returns a stepper for a causal network without `step`: its logits for a string answer for all prefixes.

    Rows and lengths are padded to powers of two, so that few programs are compiled. `pairs`: of steps that may attend
    to each other in all rows that are read together.
    """
    arrays, static = eqx.partition(network, eqx.is_array)

    @eqx.filter_jit
    def distributions(arrays: Any, tokens: jax.Array, mask: jax.Array) -> jax.Array:
        network = eqx.combine(arrays, static)
        return jax.nn.softmax(jax.vmap(lambda tokens, mask: network(tokens, mask))(tokens, mask))

    def read(strings: np.ndarray, first: int) -> np.ndarray:
        count, length = strings.shape
        time = 1 << (length - 1).bit_length()
        rows = max(1, min(1 << (count - 1).bit_length(), 1 << (max(1, pairs // time**2).bit_length() - 1)))
        padded = np.pad(strings.astype(np.int32), [(0, -count % rows), (0, time - length)])
        mask = jnp.asarray(np.broadcast_to(np.arange(time) < length, (rows, time)))
        parts = [
            np.asarray(distributions(arrays, jnp.asarray(padded[i : i + rows]), mask))[:, first:length]
            for i in range(0, count, rows)
        ]
        return np.concatenate(parts)[:count]

    return FromStrings(read)
