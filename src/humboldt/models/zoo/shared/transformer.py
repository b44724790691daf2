"""Settings of the two Transformers of Delétang et al. (2023)."""

from typing import TYPE_CHECKING, Any, ClassVar

from humboldt.core.problems import ProblemKind
from humboldt.models.zoo.shared.attention import NUM_PLACES, Positions, SinCosFrom, check_heads, check_shares
from humboldt.settings import setting, settings

if TYPE_CHECKING:
    from humboldt.models.layers.blocks import BlockOptions


@settings
class AbstractChomskyTransformer:
    """Settings that the encoder alone and the encoder with a decoder share."""

    num_layers: int = setting(5, "blocks, of each half where there are two", "appendix A.2; B.8 has up to 25", least=1)
    width: int = setting(64, "features of a token, shared out among the heads", "appendix A.2, d_model", least=1)
    num_heads: int = setting(8, "attention heads", "appendix B.3.2", least=1)
    feed_forward_size: int = setting(
        256, "units of the feed-forward layer", "released code: four times the width", least=1
    )
    dropout: float = setting(
        0.1, "dropout on residual connections, and on embeddings with sinusoids", "released code", least=0
    )
    positions: Positions = setting(
        "sin_cos", "positional encoding", "released code; the paper reports the best of the five"
    )
    sin_cos_from: SinCosFrom = setting(
        "start",
        "where the sinusoids of the input count from",
        "section 5.4 names Vaswani et al., who count from the start; released code: end",
    )

    problems: ClassVar[tuple[ProblemKind, ...]] = (ProblemKind.TRANSDUCTION,)
    tiny: ClassVar[dict[str, Any]] = {"num_layers": 2, "width": 8, "num_heads": 2, "feed_forward_size": 12}

    def check(self) -> None:
        """Checks relations between settings."""
        check_heads(self.width, self.num_heads, self.positions)
        check_shares(self, "dropout")

    def block_options(self) -> "BlockOptions":
        """Returns the options that all blocks share."""
        from humboldt.models.layers.blocks import BlockOptions

        return BlockOptions(
            self.width,
            self.num_heads,
            self.feed_forward_size,
            positions=self.positions,
            dropout=self.dropout,
            num_places=getattr(self, "num_places", NUM_PLACES),
        )
