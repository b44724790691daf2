"""LSTM encoder and decoder, of Kharitonov and Chaabouni (2021) and of Hupkes et al. (2020)."""

from typing import TYPE_CHECKING, Any, ClassVar

from humboldt.errors import UsageError
from humboldt.models import models
from humboldt.models.zoo.shared.sequence_to_sequence import TOOLKIT, AbstractSequenceToSequenceModel, Toolkit
from humboldt.settings import setting, settings

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from humboldt.models.networks.sequence_to_sequence.lstm import LSTMSequenceToSequence

HIDDEN_LAYER = 512  # units of the layer between decoder and readout in fairseq, if the decoder has another number


@models.register("lstm_s2s", version=1)
@settings
class LSTMS2S(AbstractSequenceToSequenceModel):
    """An LSTM reads the source, another writes the target; each step is given the output of the step before."""

    embedding_size: int = setting(
        16,
        "numbers in a word vector",
        "Kharitonov and Chaabouni, section 4.1: 16; Hupkes et al., section 5.1.2: 512",
        least=1,
    )
    hidden_size: int = setting(
        512, "units of every layer", "Kharitonov and Chaabouni, section 4.1; Hupkes et al., section 5.1.2", least=1
    )
    num_layers: int = setting(
        1,
        "layers of each half",
        "Kharitonov and Chaabouni, section 4.1: 1; Hupkes et al., section 5.1.2: 2",
        least=1,
        most=1_000,
    )
    bidirectional: bool = setting(
        False, "whether the encoder reads both ways, with half of the units each", "Hupkes et al., section 5.1: true"
    )
    attention: bool = setting(
        True, "whether the decoder attends to the source", "Kharitonov and Chaabouni, section 4.1: both"
    )
    toolkit: Toolkit = setting("fairseq", TOOLKIT, "Kharitonov and Chaabouni: fairseq; Hupkes et al.: opennmt")

    title: ClassVar[str] = "LSTM-s2s"
    family: ClassVar[str] = "LSTM"
    tiny: ClassVar[dict[str, Any]] = {"embedding_size": 4, "hidden_size": 6, "num_layers": 2}

    def check(self) -> None:
        super().check()
        if self.bidirectional and self.hidden_size % 2:
            raise UsageError(f"hidden_size={self.hidden_size} cannot be shared out among two directions. Make it even.")

    def build(
        self, input_size: int, output_size: int, *, num_symbols: int, key: "PRNGKeyArray"
    ) -> "LSTMSequenceToSequence":
        """Builds the network, freshly initialised."""
        from humboldt.models.networks.sequence_to_sequence.lstm import LSTMSequenceToSequence

        del num_symbols
        is_fairseq = self.toolkit == "fairseq"
        return LSTMSequenceToSequence(
            input_size,
            output_size,
            embedding_size=self.embedding_size,
            hidden_size=self.hidden_size,
            num_layers=self.num_layers,
            directions=2 if self.bidirectional else 1,
            attention=self.attention,
            hidden_layer=HIDDEN_LAYER if is_fairseq and self.hidden_size != HIDDEN_LAYER else None,
            dropout=self.dropout,
            drops_inputs=is_fairseq,
            key=key,
        )
