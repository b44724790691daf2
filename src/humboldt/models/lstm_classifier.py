"""The LSTM of *Targeted syntactic evaluations with pseudo-languages*: reads a string, then answers once."""

from dataclasses import dataclass

import equinox as eqx
import jax
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from humboldt.models import models
from humboldt.models._cell import Extent
from humboldt.models._classifier import Embedding, at_last, check_sizes, everywhere, uniform_linear, uniform_lstm_cell
from humboldt.models._linear import Linear
from humboldt.models._unroll import unroll, unroll_symbols
from humboldt.models.lstm import LSTMCell


class LSTMClassifierModel(eqx.Module):
    """Word vectors, LSTM layers, and a linear layer on the last layer's state after the last real token."""

    embedding: Embedding
    cells: tuple[LSTMCell, ...]
    readout: Linear

    def __call__(
        self, tokens: Int[Array, " time"], mask: Bool[Array, " time"], *, key: PRNGKeyArray | None = None
    ) -> Float[Array, "time out"]:
        """The logits of the string, the same at every step. Nothing after the last real token plays a part."""
        del key
        states = [cell.init_state(Extent.of(mask)) for cell in self.cells]
        _, values = unroll_symbols(self.cells[0], states[0], self.embedding.weight, tokens)
        for cell, state in zip(self.cells[1:], states[1:], strict=True):
            _, values = unroll(cell, state, values)
        return everywhere(self.readout(at_last(values, mask)), mask)


@models.register("lstm_classifier", version=1)
@dataclass(frozen=True, kw_only=True)
class LSTMClassifier:
    """Sizes of section 2.3. One layer of these has half of the parameters that the paper prints; two have all."""

    embedding_size: int = 256
    hidden_size: int = 256
    num_layers: int = 1

    def __post_init__(self) -> None:
        check_sizes(self)

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: PRNGKeyArray) -> LSTMClassifierModel:
        """The network, freshly initialised."""
        del num_symbols
        k_embedding, k_readout, k_cells = jax.random.split(key, 3)
        sizes = [self.embedding_size, *[self.hidden_size] * self.num_layers]
        keys = jax.random.split(k_cells, self.num_layers)
        cells = [uniform_lstm_cell(sizes[i], sizes[i + 1], key=k) for i, k in enumerate(keys)]
        return LSTMClassifierModel(
            Embedding(input_size, self.embedding_size, key=k_embedding),
            tuple(cells),
            uniform_linear(self.hidden_size, output_size, key=k_readout),
        )
