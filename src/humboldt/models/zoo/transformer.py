"""The autoregressive Transformer of Delétang et al. (2023): an encoder and a decoder."""

from typing import TYPE_CHECKING, ClassVar, Literal

from humboldt.models import models
from humboldt.models.zoo.shared.transformer import AbstractChomskyTransformer
from humboldt.settings import setting, settings

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from humboldt.models.networks.encoder_decoder import EncoderDecoderNetwork


@models.register("transformer", version=1)
@settings
class Transformer(AbstractChomskyTransformer):
    """A Transformer encoder and decoder; the answer is fed back symbol by symbol.

    Sizes are those of appendix A.2, the same as the encoder's; what the paper leaves open is as in its released code,
    where the positional encoding acts in all three attentions and the two halves have embeddings of their own.

    Departures from that code, in what the paper describes only by name:

    - `relative` in the attention to the encoder uses the distance of the two places, each counted from its own start,
      as `rope` and `alibi` do there. The code's shift is made for causal attention over equally long sides: here it
      counts from the two ends, and a key further right than that gets a score of the next query, which has seen the
      symbol that this query must predict.
    - `relative` among the decoder's own tokens uses their distance; the code's is larger by one (a token is at distance
      1 from itself), which `relative_shift="code"` gives.
    - `sin_cos` counts from the start (`sin_cos_from="end"`: the source's from its end, like the code). The code counts
      the answer, too, from its end, which is not known before it is written.
    """

    relative_shift: Literal["paper", "code"] = setting(
        "paper",
        "distances of `relative` among the decoder's own tokens: true ones, or one more, as in the released code",
        "the paper names the encoding; released code: code",
        added_later=True,
    )

    title: ClassVar[str] = "Transformer"
    family: ClassVar[str] = "Transformer"

    def build(
        self, input_size: int, output_size: int, *, num_symbols: int, key: "PRNGKeyArray"
    ) -> "EncoderDecoderNetwork":
        """Builds the network, freshly initialised."""
        from humboldt.models.networks.encoder_decoder import EncoderDecoderNetwork

        return EncoderDecoderNetwork(
            input_size,
            output_size,
            self.num_layers,
            self.block_options(),
            num_symbols=num_symbols,
            count_from=self.sin_cos_from,
            relative_offset=int(self.relative_shift == "code"),
            key=key,
        )
