"""The Transformer encoder of Delétang et al. (2023)."""

from typing import TYPE_CHECKING, ClassVar

from humboldt.models import models
from humboldt.models.options.transformer import AbstractChomskyTransformer
from humboldt.settings import settings

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

    title: ClassVar[str] = "Transformer encoder"
    family: ClassVar[str] = "Transformer"

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: "PRNGKeyArray") -> "EncoderNetwork":
        """The network, freshly initialised."""
        from humboldt.models.networks.encoder import EncoderNetwork

        del num_symbols  # to an encoder a mark is a token like any other
        return EncoderNetwork(
            input_size, output_size, self.num_layers, self.block_options(), count_from=self.sin_cos_from, key=key
        )
