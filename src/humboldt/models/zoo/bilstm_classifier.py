"""The BiLSTM of *Targeted syntactic evaluations with pseudo-languages*: reads a string from both ends."""

from typing import TYPE_CHECKING, Any, ClassVar

from humboldt.core.problems import ProblemKind
from humboldt.models import models
from humboldt.settings import setting, settings

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from humboldt.models.networks.lstm_classifier import BiLSTMClassifierNetwork


@models.register("bilstm_classifier", version=2)
@settings
class BiLSTMClassifier:
    """Word vectors, an LSTM in each direction, and a linear readout of both last states."""

    embedding_size: int = setting(128, "numbers in a word vector", "section 2.3", least=1)
    hidden_size: int = setting(
        128, "units of each direction", "section 2.3; with 256 it has the parameters that the paper prints", least=1
    )

    title: ClassVar[str] = "BiLSTM"
    family: ClassVar[str] = "LSTM"
    problems: ClassVar[tuple[ProblemKind, ...]] = (ProblemKind.CLASSIFICATION,)
    tiny: ClassVar[dict[str, Any]] = {"embedding_size": 5, "hidden_size": 6}

    def build(
        self, input_size: int, output_size: int, *, num_symbols: int, key: "PRNGKeyArray"
    ) -> "BiLSTMClassifierNetwork":
        """Builds the network, freshly initialised."""
        import jax

        from humboldt.models.cells.lstm import uniform_lstm_cell
        from humboldt.models.layers.embedding import NormalEmbedding
        from humboldt.models.layers.linear import uniform_linear
        from humboldt.models.networks.lstm_classifier import BiLSTMClassifierNetwork

        del num_symbols
        k_embedding, k_forwards, k_backwards, k_readout = jax.random.split(key, 4)
        # The last two of three keys, so that each seed starts with the weights that it had in version 1.
        forwards, backwards = (
            uniform_lstm_cell(self.embedding_size, self.hidden_size, keys=jax.random.split(k, 3)[1:])
            for k in (k_forwards, k_backwards)
        )
        return BiLSTMClassifierNetwork(
            NormalEmbedding(input_size, self.embedding_size, key=k_embedding),
            forwards,
            backwards,
            uniform_linear(2 * self.hidden_size, output_size, key=k_readout),
        )
