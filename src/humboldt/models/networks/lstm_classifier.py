"""The LSTM classifiers of *Targeted syntactic evaluations with pseudo-languages*."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, Shaped

from humboldt.core.internals import TIME, Internal
from humboldt.models.cells.base import Extent
from humboldt.models.cells.lstm import LSTMCell
from humboldt.models.layers.embedding import NormalEmbedding
from humboldt.models.layers.linear import Linear
from humboldt.models.loop.outputs import outputs_of
from humboldt.models.loop.unroll import unroll
from humboldt.models.networks.base import AbstractInspectable
from humboldt.models.networks.pooling import at_every_step, at_last


class LSTMClassifierNetwork(AbstractInspectable):
    """Word vectors, LSTM layers, and a linear layer on the last layer's state after the last real token."""

    embedding: NormalEmbedding
    cells: tuple[LSTMCell, ...]
    readout: Linear

    def __call__(
        self, tokens: Int[Array, " time"], mask: Bool[Array, " time"], *, key: PRNGKeyArray | None = None
    ) -> Float[Array, "time out"]:
        """Returns the logits of the string, the same at every step. Padding has no influence."""
        del key
        extent = Extent.of(mask)
        values = outputs_of(self.cells[0], extent, self.embedding.weight, tokens)
        for cell in self.cells[1:]:
            _, values = unroll(cell, cell.init_state(extent), values)
        return at_every_step(self.readout(at_last(values, mask)), mask)

    def inspect(self, tokens: Int[Array, " time"], mask: Bool[Array, " time"]) -> dict[str, Internal]:
        """Returns the hidden state and the memory cell of every layer after every step."""
        xs, layers = self.embedding(tokens), []
        for cell in self.cells:
            states = _states(cell, xs, mask)
            layers.append(states)
            xs = states[0]
        axes = ("layer", TIME, "unit")
        return {
            name: Internal(jnp.stack(vectors), axes) for name, *vectors in zip(LSTMCell.vectors, *layers, strict=True)
        }


class BiLSTMClassifierNetwork(AbstractInspectable):
    """One LSTM reads forwards and another backwards; a linear layer reads the last states of both."""

    embedding: NormalEmbedding
    forwards: LSTMCell
    backwards: LSTMCell
    readout: Linear

    def __call__(
        self, tokens: Int[Array, " time"], mask: Bool[Array, " time"], *, key: PRNGKeyArray | None = None
    ) -> Float[Array, "time out"]:
        """Returns the logits of the string, the same at every step."""
        del key
        both = jnp.stack([tokens, reversed_within(tokens, mask)])

        def last(cell: LSTMCell, tokens: Int[Array, " time"]) -> Float[Array, " hidden"]:
            return at_last(outputs_of(cell, Extent.of(mask), self.embedding.weight, tokens), mask)

        cells = (self.forwards, self.backwards)
        if jax.default_backend() == "cpu":  # where a batched matrix product is slower than two plain ones
            states = [last(cell, both[i]) for i, cell in enumerate(cells)]
        else:  # half as many steps, one after the other, as in two loops
            states = list(jax.vmap(last)(jax.tree.map(lambda a, b: jnp.stack([a, b]), *cells), both))
        return at_every_step(self.readout(jnp.concatenate(states)), mask)

    def inspect(self, tokens: Int[Array, " time"], mask: Bool[Array, " time"]) -> dict[str, Internal]:
        """Returns the hidden state and the memory cell of both LSTMs after reading each token; the backward LSTM reads
        from the right."""
        internals = {}
        for direction, cell in (("forwards", self.forwards), ("backwards", self.backwards)):
            is_backwards = direction == "backwards"
            read = reversed_within(tokens, mask) if is_backwards else tokens
            states = _states(cell, self.embedding(read), mask)
            for name, vectors in zip(LSTMCell.vectors, states, strict=True):
                in_order = reversed_within(vectors, mask) if is_backwards else vectors
                internals[f"{direction} {name}"] = Internal(in_order, (TIME, "unit"))
        return internals


def _states(cell: LSTMCell, xs: Float[Array, "time in"], mask: Bool[Array, " time"]) -> tuple[Array, ...]:
    """Returns all vectors of the state after every step."""

    def step(state: Any, x: Array) -> tuple[Any, Any]:
        state, _ = cell(state, cell.project(x))
        return state, state

    return jax.lax.scan(step, cell.init_state(Extent.of(mask)), xs)[1]


def reversed_within(tokens: Shaped[Array, "time *rest"], mask: Bool[Array, " time"]) -> Shaped[Array, "time *rest"]:
    """Reverses the real tokens; padding stays where it is, so that the backward LSTM begins at the last real token."""
    steps = jnp.arange(len(tokens))
    return tokens[jnp.where(mask, mask.sum() - 1 - steps, steps)]
