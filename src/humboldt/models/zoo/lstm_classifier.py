"""The LSTM of *Targeted syntactic evaluations with pseudo-languages*: reads a string, then answers once."""

from typing import TYPE_CHECKING, Any, ClassVar

from humboldt.core.problems import ProblemKind
from humboldt.models import models
from humboldt.settings import setting, settings

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from humboldt.models.networks.lstm_classifier import LSTMClassifierNetwork


@models.register("lstm_classifier", version=2)
@settings
class LSTMClassifier:
    """Word vectors, one or more LSTM layers, and a linear readout after the last token."""

    embedding_size: int = setting(256, "numbers in a word vector", "section 2.3", least=1)
    hidden_size: int = setting(256, "units of every LSTM layer", "section 2.3", least=1)
    num_layers: int = setting(
        1,
        "LSTM layers",
        "section 2.3; one has half of the parameters that the paper prints, two have all",
        least=1,
        most=100,
    )

    title: ClassVar[str] = "LSTM"
    family: ClassVar[str] = "LSTM"
    problems: ClassVar[tuple[ProblemKind, ...]] = (ProblemKind.CLASSIFICATION,)
    tiny: ClassVar[dict[str, Any]] = {"embedding_size": 5, "hidden_size": 6, "num_layers": 2}

    def build(
        self, input_size: int, output_size: int, *, num_symbols: int, key: "PRNGKeyArray"
    ) -> "LSTMClassifierNetwork":
        """Builds the network, freshly initialised."""
        import jax

        from humboldt.models.cells.lstm import uniform_lstm_cell
        from humboldt.models.layers.embedding import NormalEmbedding
        from humboldt.models.layers.linear import uniform_linear
        from humboldt.models.networks.lstm_classifier import LSTMClassifierNetwork

        del num_symbols
        k_embedding, k_readout, k_cells = jax.random.split(key, 3)
        sizes = [self.embedding_size, *[self.hidden_size] * self.num_layers]
        # The last two of three keys, so that each seed starts with the weights that it had in version 1.
        keys = [jax.random.split(k, 3)[1:] for k in jax.random.split(k_cells, self.num_layers)]
        cells = [uniform_lstm_cell(sizes[i], sizes[i + 1], keys=keys[i]) for i in range(self.num_layers)]
        return LSTMClassifierNetwork(
            NormalEmbedding(input_size, self.embedding_size, key=k_embedding),
            tuple(cells),
            uniform_linear(self.hidden_size, output_size, key=k_readout),
        )
