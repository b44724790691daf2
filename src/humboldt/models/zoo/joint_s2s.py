"""Joint source-target self-attention, of Kharitonov and Chaabouni (2021), appendix E."""

from typing import TYPE_CHECKING, Any, ClassVar

from humboldt.models import models
from humboldt.models.zoo.shared.attention import check_heads
from humboldt.models.zoo.shared.sequence_to_sequence import AbstractSequenceToSequenceModel
from humboldt.settings import setting, settings

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from humboldt.models.networks.sequence_to_sequence.joint import JointSequenceToSequence

PAPER = "Kharitonov and Chaabouni, appendix E"


@models.register("joint_s2s", version=1)
@settings
class JointS2S(AbstractSequenceToSequenceModel):
    """One Transformer over source and target together, without an encoder of its own (Fonollosa et al. 2019)."""

    embedding_size: int = setting(64, "features of a token, shared out among the heads", PAPER, least=1, most=100_000)
    hidden_size: int = setting(512, "units of the feed-forward layers", PAPER, least=1)
    num_layers: int = setting(1, "blocks", PAPER, least=1, most=1_000)
    num_heads: int = setting(8, "attention heads", PAPER, least=1)
    tied: bool = setting(
        True, "whether the readout is the embedding of the target", "not stated; true in the authors' released code"
    )

    title: ClassVar[str] = "Joint attention"
    family: ClassVar[str] = "Transformer"
    tiny: ClassVar[dict[str, Any]] = {"embedding_size": 8, "hidden_size": 10, "num_layers": 2, "num_heads": 2}

    def check(self) -> None:
        super().check()
        check_heads(self.embedding_size, self.num_heads, "sin_cos")

    def build(
        self, input_size: int, output_size: int, *, num_symbols: int, key: "PRNGKeyArray"
    ) -> "JointSequenceToSequence":
        """Builds the network, freshly initialised."""
        from humboldt.models.networks.sequence_to_sequence.joint import JointSequenceToSequence
        from humboldt.models.networks.sequence_to_sequence.transformer import TransformerOptions

        del num_symbols
        options = TransformerOptions(
            self.embedding_size,
            self.num_heads,
            self.hidden_size,
            self.num_layers,
            self.dropout,
            positions="sin_cos",
            share_layers=False,
            toolkit="fairseq",
        )
        return JointSequenceToSequence(input_size, output_size, options, tied=self.tied, key=key)
