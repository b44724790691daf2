"""Settings that sequence-to-sequence models share."""

from typing import ClassVar, Literal

from humboldt.core.problems import ProblemKind
from humboldt.models.zoo.shared.attention import check_shares
from humboldt.settings import setting, settings

Toolkit = Literal["fairseq", "opennmt"]
"""The toolkit whose choices a network follows where its paper gives none: fairseq 0.9 or OpenNMT-py 0.6."""

TOOLKIT = "what its paper leaves open (initial weights, where dropout is, order of normalisation) is as in this toolkit"


@settings
class AbstractSequenceToSequenceModel:
    """Settings that all of them share. Sizes are those of Kharitonov and Chaabouni (2021)."""

    dropout: float = setting(
        0.5,
        "dropout",
        "Kharitonov and Chaabouni, section 4.1: 0.5; Hupkes et al.: the toolkits', 0.3 (LSTM) and 0.1",
        least=0,
    )

    problems: ClassVar[tuple[ProblemKind, ...]] = (ProblemKind.SEQUENCE_TO_SEQUENCE,)

    def check(self) -> None:
        """Checks relations between settings."""
        check_shares(self, "dropout")
