"""Any cell as a model: one-hot tokens in, a linear readout at every step out."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from humboldt.models._cell import AbstractCell, Extent
from humboldt.models._linear import Linear
from humboldt.models._memory import AbstractMemoryCell
from humboldt.models._unroll import unroll_symbols


class RecurrentModel(eqx.Module):
    """A cell and a readout.

    `num_symbols` is how many token ids are input symbols; larger ids are the marks that follow an input (`∅`).
    `relu_readout`: whether a ReLU comes before the readout.
    """

    cell: AbstractCell
    readout: Linear
    input_size: int = eqx.field(static=True)
    num_symbols: int = eqx.field(static=True)
    relu_readout: bool = eqx.field(static=True, default=False)

    def __call__(
        self, tokens: Int[Array, " time"], mask: Bool[Array, " time"], *, key: PRNGKeyArray | None = None
    ) -> Float[Array, "time out"]:
        """Logits at every step. A step sees only what came before it; the mask is for memories that need the length."""
        del key
        vectors = jnp.eye(self.input_size, dtype=self.readout.weight.dtype)
        _, hidden = unroll_symbols(self.cell, self.start(tokens, mask), vectors, tokens)
        return jax.vmap(self._logits)(hidden)

    def inspect(self, tokens: Int[Array, " time"], mask: Bool[Array, " time"]) -> dict[str, Any]:
        """What happens inside while these tokens are read: `states` (of the cell, after every step: hidden states and
        memory contents) and, where there is a memory, the `actions` on it, each with a leading axis of time."""
        actions = self.cell.memory.actions if isinstance(self.cell, AbstractMemoryCell) else None

        def step(state: Any, x: Array) -> tuple[Any, dict[str, Any]]:
            state, hidden = self.cell(state, self.cell.project(x))
            found = {"states": state, "logits": self._logits(hidden)}
            return state, found if actions is None else {**found, "actions": actions(hidden)}

        return jax.lax.scan(step, self.start(tokens, mask), self._one_hot(tokens))[1]

    def start(
        self,
        tokens: Int[Array, " time"],
        mask: Bool[Array, " time"] | None = None,
        key: PRNGKeyArray | None = None,
    ) -> Any:
        """The state before the first of these tokens. Without a mask all of them are real. There is no dropout, so that
        a key changes nothing."""
        del key
        mask = jnp.ones(len(tokens), bool) if mask is None else mask
        is_mark = mask & (tokens >= self.num_symbols)
        input_length = jnp.where(is_mark.any(), jnp.argmax(is_mark).astype(jnp.int32), mask.sum(dtype=jnp.int32))
        return self.cell.init_state(Extent.of(mask, input_length=input_length))

    def step(self, state: Any, token: Int[Array, ""]) -> tuple[Any, Float[Array, " out"]]:
        """One token in, the logits after it out: the same numbers as `__call__`, one at a time."""
        state, hidden = self.cell(state, self.cell.project(self._one_hot(token)))
        return state, self._logits(hidden)

    def _logits(self, hidden: Float[Array, " hidden"]) -> Float[Array, " out"]:
        return self.readout(jax.nn.relu(hidden) if self.relu_readout else hidden)

    def _one_hot(self, tokens: Int[Array, "*time"]) -> Float[Array, "*time in"]:
        return jax.nn.one_hot(tokens, self.input_size, dtype=self.readout.weight.dtype)
