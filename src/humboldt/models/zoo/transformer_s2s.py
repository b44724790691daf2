"""The Transformer, of Kharitonov and Chaabouni (2021) and of Hupkes et al. (2020)."""

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from humboldt.models import models
from humboldt.models.zoo.shared.attention import check_heads
from humboldt.models.zoo.shared.sequence_to_sequence import TOOLKIT, AbstractSequenceToSequenceModel, Toolkit
from humboldt.settings import setting, settings

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from humboldt.models.networks.sequence_to_sequence.transformer import TransformerSequenceToSequence


@models.register("transformer_s2s", version=1)
@settings
class TransformerS2S(AbstractSequenceToSequenceModel):
    """Encoder and decoder of Vaswani et al. (2017)."""

    embedding_size: int = setting(
        16,
        "features of a token, shared out among the heads",
        "Kharitonov and Chaabouni, section 4.1: 16; Hupkes et al., section 5.3.2: 512",
        least=1,
        most=100_000,
    )
    hidden_size: int = setting(
        512,
        "units of the feed-forward layers",
        "Kharitonov and Chaabouni, section 4.1: 512; Hupkes et al., section 5.3.2: 2048",
        least=1,
    )
    num_layers: int = setting(
        1,
        "blocks of each half",
        "Kharitonov and Chaabouni, section 4.1: 1; Hupkes et al., section 5.3.2: 6",
        least=1,
        most=1_000,
    )
    num_heads: int = setting(
        8, "attention heads", "Kharitonov and Chaabouni, section 4.1; Hupkes et al., section 5.3.2", least=1
    )
    positions: Literal["sin_cos", "relative"] = setting(
        "sin_cos",
        "sinusoids added to the word vectors, or distances between tokens in attention (Dai et al. 2019)",
        "sin_cos in both papers; relative in Csordás et al. (2021)",
    )
    share_layers: bool = setting(
        False, "whether one block is run num_layers times", "false in both papers; true in Csordás et al. (2021)"
    )
    toolkit: Toolkit = setting("fairseq", TOOLKIT, "Kharitonov and Chaabouni: fairseq; Hupkes et al.: opennmt")

    title: ClassVar[str] = "Transformer"
    family: ClassVar[str] = "Transformer"
    tiny: ClassVar[dict[str, Any]] = {"embedding_size": 8, "hidden_size": 10, "num_layers": 2, "num_heads": 2}

    def check(self) -> None:
        super().check()
        check_heads(self.embedding_size, self.num_heads, "sin_cos")

    def build(
        self, input_size: int, output_size: int, *, num_symbols: int, key: "PRNGKeyArray"
    ) -> "TransformerSequenceToSequence":
        """Builds the network, freshly initialised."""
        from humboldt.models.networks.sequence_to_sequence.transformer import (
            TransformerOptions,
            TransformerSequenceToSequence,
        )

        del num_symbols
        options = TransformerOptions(
            self.embedding_size,
            self.num_heads,
            self.hidden_size,
            self.num_layers,
            self.dropout,
            self.positions,
            self.share_layers,
            self.toolkit,
        )
        return TransformerSequenceToSequence(input_size, output_size, options, key=key)
