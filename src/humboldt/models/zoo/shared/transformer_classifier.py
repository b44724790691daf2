"""Settings of the two Transformers of *Targeted syntactic evaluations with pseudo-languages*."""

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from humboldt.core.problems import ProblemKind
from humboldt.models.zoo.shared.attention import check_heads, check_shares
from humboldt.settings import setting, settings

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from humboldt.models.networks.transformer_classifier import TransformerClassifierNetwork


@settings
class AbstractTransformerClassifier:
    """Settings that both share: all but which tokens a token attends to, and how the answer is read."""

    num_layers: int = setting(
        3, "blocks", "section 2.3; these have 0.99M parameters, the printed 1.32M are those of four blocks", least=1
    )
    num_heads: int = setting(4, "attention heads", "section 2.3", least=1)
    width: int = setting(128, "features of a token, shared out among the heads", "section 2.3", least=1)
    feed_forward_size: int = setting(1024, "units of the feed-forward layer", "section 2.3", least=1)
    dropout: float = setting(0.0, "dropout in the blocks", "not stated; PyTorch's blocks have 0.1 by default", least=0)
    embedding_dropout: float = setting(
        0.0,
        "dropout on the sum of word vectors and sinusoids",
        "not stated; PyTorch's tutorial has 0.1",
        least=0,
        added_later=True,
    )
    alike_layers: bool = setting(
        False,
        "whether all blocks start with the same weights",
        "not stated; PyTorch's `nn.TransformerEncoder` copies one block, so there they do",
        added_later=True,
    )

    problems: ClassVar[tuple[ProblemKind, ...]] = (ProblemKind.CLASSIFICATION,)
    tiny: ClassVar[dict[str, Any]] = {"num_layers": 2, "num_heads": 2, "width": 8, "feed_forward_size": 12}
    causal: ClassVar[bool]
    pooling: ClassVar[Literal["mean", "last"]]

    def check(self) -> None:
        """Checks relations between settings."""
        check_heads(self.width, self.num_heads, "sin_cos")
        check_shares(self, "dropout", "embedding_dropout")

    def build(
        self, input_size: int, output_size: int, *, num_symbols: int, key: "PRNGKeyArray"
    ) -> "TransformerClassifierNetwork":
        """Builds the network, freshly initialised."""
        from humboldt.models.layers.blocks import BlockOptions
        from humboldt.models.networks.transformer_classifier import TransformerClassifierNetwork

        del num_symbols
        return TransformerClassifierNetwork(
            input_size,
            output_size,
            self.num_layers,
            BlockOptions(
                self.width,
                self.num_heads,
                self.feed_forward_size,
                dropout=self.dropout,
                inner_dropout=self.dropout,
                use_bias=True,
            ),
            causal=self.causal,
            pooling=self.pooling,
            embedding_dropout=self.embedding_dropout,
            alike_layers=self.alike_layers,
            key=key,
        )
