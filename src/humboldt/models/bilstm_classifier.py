"""The BiLSTM of *Targeted syntactic evaluations with pseudo-languages*: reads a string from both ends."""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from humboldt.models import models
from humboldt.models._cell import Extent
from humboldt.models._classifier import Embedding, at_last, check_sizes, everywhere, uniform_linear, uniform_lstm_cell
from humboldt.models._linear import Linear
from humboldt.models._unroll import unroll_symbols
from humboldt.models.lstm import LSTMCell


class BiLSTMClassifierModel(eqx.Module):
    """One LSTM reads forwards and another backwards; a linear layer reads the last states of both."""

    embedding: Embedding
    forwards: LSTMCell
    backwards: LSTMCell
    readout: Linear

    def __call__(
        self, tokens: Int[Array, " time"], mask: Bool[Array, " time"], *, key: PRNGKeyArray | None = None
    ) -> Float[Array, "time out"]:
        """The logits of the string, the same at every step."""
        del key
        both = jnp.stack([tokens, reversed_within(tokens, mask)])

        def last(cell: LSTMCell, tokens: Int[Array, " time"]) -> Float[Array, " hidden"]:
            state = cell.init_state(Extent.of(mask))
            _, states = unroll_symbols(cell, state, self.embedding.weight, tokens)
            return at_last(states, mask)

        cells = (self.forwards, self.backwards)
        if jax.default_backend() == "cpu":  # where a batched matrix product is slower than two plain ones
            states = [last(cell, both[i]) for i, cell in enumerate(cells)]
        else:  # half as many steps, one after the other, as in two loops
            states = list(jax.vmap(last)(jax.tree.map(lambda a, b: jnp.stack([a, b]), *cells), both))
        return everywhere(self.readout(jnp.concatenate(states)), mask)


def reversed_within(tokens: Int[Array, " time"], mask: Bool[Array, " time"]) -> Int[Array, " time"]:
    """The real tokens in reverse; padding stays where it is, so the backward reader begins at the last real token."""
    steps = jnp.arange(len(tokens))
    return tokens[jnp.where(mask, mask.sum() - 1 - steps, steps)]


@models.register("bilstm_classifier", version=1)
@dataclass(frozen=True, kw_only=True)
class BiLSTMClassifier:
    """Sizes of section 2.3, `hidden_size` for each direction. With 256 it has the parameters that the paper prints."""

    embedding_size: int = 128
    hidden_size: int = 128

    def __post_init__(self) -> None:
        check_sizes(self)

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: PRNGKeyArray) -> BiLSTMClassifierModel:
        """The network, freshly initialised."""
        del num_symbols
        k_embedding, k_forwards, k_backwards, k_readout = jax.random.split(key, 4)
        return BiLSTMClassifierModel(
            Embedding(input_size, self.embedding_size, key=k_embedding),
            uniform_lstm_cell(self.embedding_size, self.hidden_size, key=k_forwards),
            uniform_lstm_cell(self.embedding_size, self.hidden_size, key=k_backwards),
            uniform_linear(2 * self.hidden_size, output_size, key=k_readout),
        )
