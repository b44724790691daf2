"""Any network that can be given one symbol at a time, run by JAX."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from humboldt.models.networks.base import AbstractStepwise


class JaxStepper:
    """Any network that can be given one symbol at a time, compiled by JAX."""

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
        """As many copies of the first state."""
        return jax.tree.map(lambda x: jnp.repeat(jnp.asarray(x)[None], count, 0), self._start)

    def step(self, state: Any, symbols: np.ndarray) -> tuple[Any, np.ndarray]:
        """All rows in one call."""
        state, distributions = self._step(self._arrays, state, jnp.asarray(symbols, jnp.int32))
        return state, np.asarray(distributions)

    def take(self, state: Any, rows: np.ndarray) -> Any:
        """Selects."""
        return self._take(state, jnp.asarray(rows, jnp.int32))


class Padded:
    """Shows a stepper only numbers of rows that are powers of two, at least `smallest`.

    For models compiled for each shape they meet: they meet few. The rows added are copies, and are not scored.
    """

    def __init__(self, stepper: Any, smallest: int = 64) -> None:
        self.stepper = stepper
        self.smallest = smallest

    def _rows(self, count: int) -> int:
        return max(self.smallest, 1 << (count - 1).bit_length())

    def init(self, count: int) -> Any:
        """More rows than asked for."""
        return self.stepper.init(self._rows(count))

    def step(self, state: Any, symbols: np.ndarray) -> tuple[Any, np.ndarray]:
        """Rows added read `#`."""
        count = len(symbols)
        state, distributions = self.stepper.step(state, np.pad(symbols, (0, self._rows(count) - count)))
        return state, np.asarray(distributions)[:count]

    def take(self, state: Any, rows: np.ndarray) -> Any:
        """Rows added are copies of the first."""
        return self.stepper.take(state, np.pad(rows, (0, self._rows(len(rows)) - len(rows))))
