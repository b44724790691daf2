"""Convolutional encoder and decoder, of Kharitonov and Chaabouni (2021) and of Hupkes et al. (2020)."""

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from humboldt.models import models
from humboldt.models.zoo.shared.sequence_to_sequence import AbstractSequenceToSequenceModel
from humboldt.settings import setting, settings

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from humboldt.models.networks.sequence_to_sequence.convolution import ConvolutionSequenceToSequence


LAYERS = {  # the paper gives no kernel widths: they are fairseq's
    "hupkes": (*[(512, 3)] * 10, *[(768, 3)] * 2, *[(2048, 1)] * 3),
    "fconv_wmt_en_de": (*[(512, 3)] * 9, *[(1024, 3)] * 4, *[(2048, 1)] * 2),
}


@models.register("cnn_s2s", version=1)
@settings
class CNNS2S(AbstractSequenceToSequenceModel):
    """Gated convolutions over the source and over the output so far; other details are as in fairseq 0.9."""

    embedding_size: int = setting(
        16,
        "numbers in a word vector",
        "Kharitonov and Chaabouni, section 4.1: 16; Hupkes et al., section 5.2.2: 512",
        least=1,
    )
    hidden_size: int = setting(512, "channels of every layer", "Kharitonov and Chaabouni, section 4.1", least=1)
    num_layers: int = setting(
        1,
        "layers of each half",
        "Kharitonov and Chaabouni, section 4.1: 1; Hupkes et al., section 5.2.2: 15",
        least=1,
        most=1_000,
    )
    kernel_width: int = setting(3, "places that a convolution sees", "Kharitonov and Chaabouni, section 4.1", least=1)
    layers: Literal["alike", "hupkes", "fconv_wmt_en_de"] = setting(
        "alike",
        "all layers as hidden_size, num_layers and kernel_width say, or one of two lists of 15 layers",
        "Hupkes et al., section 5.2.2, name fairseq's fconv_wmt_en_de, as their script does, and list others (hupkes)",
    )
    bottleneck: int = setting(256, "units before the readout", "fairseq; 512 in its fconv_wmt_en_de", least=1)
    num_places: int = setting(1024, "places that have a vector of their own", "fairseq", least=1)

    title: ClassVar[str] = "CNN-s2s"
    family: ClassVar[str] = "CNN"
    tiny: ClassVar[dict[str, Any]] = {"embedding_size": 4, "hidden_size": 6, "num_layers": 2, "num_places": 24}

    @property
    def convolutions(self) -> tuple[tuple[int, int], ...]:
        """Channels and kernel width of every layer."""
        return LAYERS.get(self.layers) or ((self.hidden_size, self.kernel_width),) * self.num_layers

    def build(
        self, input_size: int, output_size: int, *, num_symbols: int, key: "PRNGKeyArray"
    ) -> "ConvolutionSequenceToSequence":
        """Builds the network, freshly initialised."""
        from humboldt.models.networks.sequence_to_sequence.convolution import ConvolutionSequenceToSequence

        del num_symbols
        channels, widths = zip(*self.convolutions, strict=True)
        return ConvolutionSequenceToSequence(
            input_size,
            output_size,
            embedding_size=self.embedding_size,
            channels=channels,
            widths=widths,
            bottleneck=self.bottleneck,
            num_places=self.num_places,
            dropout=self.dropout,
            key=key,
        )
