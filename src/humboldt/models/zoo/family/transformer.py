"""The decoder-only Transformer, for every kind of problem."""

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from humboldt.core.problems import ProblemKind
from humboldt.errors import UsageError
from humboldt.models import models
from humboldt.models.zoo.shared.attention import (
    NUM_PLACES,
    AllPositions,
    check_heads,
    check_shares,
    is_random,
    most_positions,
)
from humboldt.models.zoo.shared.backbone import TYPICAL
from humboldt.models.zoo.shared.family import PYTORCH, AbstractFamily
from humboldt.settings import setting, settings

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from humboldt.models.networks.decoder_only import DecoderOnlyNetwork


@models.register("family/transformer", version=1)
@settings
class Transformer(AbstractFamily):
    """A Transformer in which every token attends to itself and the tokens before it. Normalisation comes first."""

    layers: int = setting(2, "blocks", f"{TYPICAL}: 2 or 3", least=1, most=100)
    width: int = setting(64, "features of a token, shared out among the heads", f"{TYPICAL}: 128", least=1, most=65_536)
    heads: int = setting(4, "attention heads", f"{TYPICAL}: 4", least=1, most=65_536)
    feed_forward_size: int = setting(
        0, "units of the feed-forward layer; 0: four times the width", "Vaswani et al. 2017", least=0
    )
    dropout: float = setting(0.0, "dropout on embeddings and residual connections", PYTORCH, least=0)
    positions: AllPositions = setting("rope", "positional encoding", "our choice: what most models of today have")
    after_input: Literal["continue", "restart"] = setting(
        "continue", "whether positions continue after the end of the input, or restart at 0", "our choice"
    )
    num_places: int = setting(
        NUM_PLACES, "places that randomised positions are drawn from", "Ruoss et al. 2023", least=1, most=1_000_000
    )
    share_layers: bool = setting(
        False, "whether all blocks have the same weights", "Dehghani et al. 2019 (universal Transformer)"
    )

    title: ClassVar[str] = "Transformer"
    family: ClassVar[str] = "Transformer"
    about: ClassVar[str] = "decoder-only attention, with a choice of positions (Vaswani et al. 2017)"
    size: ClassVar[str] = "width"
    tiny: ClassVar[dict[str, Any]] = {"layers": 2, "width": 8, "heads": 2}

    def check(self) -> None:
        """Checks relations between settings."""
        check_heads(self.width, self.heads, self.positions)
        check_shares(self, "dropout")

    def check_problem(self, kind: ProblemKind) -> None:
        """Raises a `UsageError` if the positions are not defined for this kind of problem."""
        if is_random(self.positions) and kind in (ProblemKind.NEXT_SYMBOL, ProblemKind.SEQUENCE_TO_SEQUENCE):
            raise UsageError(
                f"positions={self.positions} is drawn for the whole length of a string, which is not known beforehand "
                f"in problems of {kind.value}: it would give away where the string ends. Use other positions there."
            )

    def most_positions(self) -> int | None:
        """Returns the largest number of tokens that the network can read; `None` if there is no bound."""
        return most_positions(self.positions, self.num_places)

    def build(
        self, input_size: int, output_size: int, *, num_symbols: int, key: "PRNGKeyArray"
    ) -> "DecoderOnlyNetwork":
        """Builds the network, freshly initialised."""
        from humboldt.models.layers.blocks import BlockOptions
        from humboldt.models.networks.decoder_only import DecoderOnlyNetwork

        return DecoderOnlyNetwork(
            input_size,
            output_size,
            self.layers,
            BlockOptions(
                self.width,
                self.heads,
                self.feed_forward_size or 4 * self.width,
                positions=self.positions,
                num_places=self.num_places,
                dropout=self.dropout,
                use_bias=True,
                norm_first=True,
            ),
            num_symbols=num_symbols,
            after_input=self.after_input,
            shared=self.share_layers,
            key=key,
        )
