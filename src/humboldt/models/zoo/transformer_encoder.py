"""The Transformer encoder of Delétang et al. (2023)."""

from typing import TYPE_CHECKING, ClassVar

from humboldt.models import models
from humboldt.models.zoo.shared.attention import NUM_PLACES, BothWays, most_positions
from humboldt.models.zoo.shared.transformer import AbstractChomskyTransformer
from humboldt.settings import setting, settings

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from humboldt.models.networks.encoder import EncoderNetwork


@models.register("transformer_encoder", version=1)
@settings
class TransformerEncoder(AbstractChomskyTransformer):
    """A Transformer encoder that answers at the `∅` it is given, without feeding anything back.

    Sizes are those of appendix A.2; what the paper leaves open is as in its released code. One departure: there the
    sinusoids count down to the end of the input instead of up from its start; `sin_cos_from="end"` does that.
    """

    positions: BothWays = setting(  # pyright: ignore[reportIncompatibleVariableOverride]  # more kinds
        "sin_cos",
        "positional encoding; the random ones are a sorted subset of num_places",
        "released code; the paper reports the best of the first five; Ruoss et al. (2023) have the random ones",
    )
    num_places: int = setting(
        NUM_PLACES,
        "places that random positions are drawn from",
        "Ruoss et al. (2023), section 4",
        least=1,
        most=100_000,
        added_later=True,
    )

    title: ClassVar[str] = "Transformer encoder"
    family: ClassVar[str] = "Transformer"

    def most_positions(self) -> int | None:
        """Returns the largest number of tokens that the network can read; `None` if there is no bound."""
        return most_positions(self.positions, self.num_places)

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: "PRNGKeyArray") -> "EncoderNetwork":
        """Builds the network, freshly initialised."""
        from humboldt.models.networks.encoder import EncoderNetwork

        del num_symbols  # an encoder treats marks like all other tokens
        return EncoderNetwork(
            input_size, output_size, self.num_layers, self.block_options(), count_from=self.sin_cos_from, key=key
        )
