"""Settings of the families that are made of mixers: one residual block for all of them."""

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from humboldt.errors import UsageError
from humboldt.models.zoo.shared.family import AbstractFamily
from humboldt.settings import setting, settings

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from humboldt.models.networks.backbone import BackboneNetwork

TYPICAL = "typical of this literature"
FLA = "flash-linear-attention's layer of this name"

Eigenvalues = Literal["0_1", "-1_1"]
"""The range of the eigenvalues of a state's transition."""

RANGE = "range of the eigenvalues of the state's transition: [0, 1] or [-1, 1]"
GRAZZI = "Grazzi et al. 2025; released layers have 0_1 by default"


@settings
class AbstractBackboneFamily(AbstractFamily):
    """An embedding, residual blocks of a norm, a mixer and perhaps a feed-forward layer, a norm, and a readout."""

    layers: int = setting(2, "blocks", f"{TYPICAL}: 2 or 3", least=1, most=100)
    width: int = setting(64, "features of a token between the blocks", f"{TYPICAL}: 128", least=1, most=65_536)
    norm: Literal["authors", "rms", "layer"] = setting(
        "authors",
        "normalisation before every mixer: by the root mean square, or by mean and deviation",
        "authors: rms in flash-linear-attention and mamba, layer in xlstm, RWKV-7 and S4",
    )
    feed_forward: Literal["authors", "none", "gated", "gated_gelu", "plain"] = setting(
        "authors",
        "layer after every mixer: none, with a gate of silu or gelu, or plain",
        "authors: none in mamba, mLSTM, S4D, LRU and PD-SSM, gated_gelu in sLSTM, plain in RWKV-7, gated elsewhere",
    )
    feed_forward_size: int = setting(
        0,
        "units of that layer; 0: 8/3 of the width with a gate (gelu: 1.3 times the width), 4 times the width without",
        "released models of flash-linear-attention (hidden_ratio 4); xlstm (1.3, but rounded up to a multiple of 64)",
        least=0,
    )
    embedding_spread: Literal["0.02", "small", "1"] = setting(
        "0.02",
        "standard deviation of the initial embedding; small: the root of 2 / (5 width)",
        "0.02 in mamba and flash-linear-attention, small in xlstm, 1 in PyTorch's `nn.Embedding`",
    )

    size: ClassVar[str] = "width"
    mixers: ClassVar[tuple[str, ...]]  # names in `humboldt.models.mixers.named`, which take turns

    def mixer_names(self) -> tuple[str, ...]:
        """Returns the mixers of the blocks, which take turns."""
        return self.mixers

    def mixer_options(self) -> dict[str, Any]:
        """Returns the options of the mixers."""
        return {}

    def num_heads(self) -> int:
        """Returns the number of heads; mixers without heads ignore it."""
        return getattr(self, "heads", 1)

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: "PRNGKeyArray") -> "BackboneNetwork":
        """Builds the network, freshly initialised."""
        import jax

        from humboldt.models.mixers.backbone import backbone
        from humboldt.models.networks.backbone import BackboneNetwork

        del num_symbols
        k_backbone, k_ends = jax.random.split(key)
        blocks = backbone(
            self.mixer_names(),
            width=self.width,
            layers=self.layers,
            heads=self.num_heads(),
            norm=None if self.norm == "authors" else self.norm,
            feed_forward=None if self.feed_forward == "authors" else self.feed_forward,
            feed_forward_size=self.feed_forward_size or None,
            key=k_backbone,
            **self.mixer_options(),
        )
        return BackboneNetwork(
            blocks, input_size, output_size, width=self.width, embedding_spread=self.embedding_spread, key=k_ends
        )


@settings
class AbstractHeadsFamily(AbstractBackboneFamily):
    """A family whose mixers have heads."""

    heads: int = setting(4, "heads, among which features are shared out", f"{TYPICAL}: 4", least=1, most=65_536)

    tiny: ClassVar[dict[str, Any]] = {"layers": 1, "width": 8, "heads": 2}

    def check(self) -> None:
        """Checks relations between settings."""
        if self.width % self.heads:
            raise UsageError(
                f"width={self.width} cannot be shared out among heads={self.heads}. Make it a multiple of {self.heads}."
            )


@settings
class AbstractFastWeightsFamily(AbstractHeadsFamily):
    """A family of fast weights: a matrix per head that keys and values are written to (`humboldt.models.mixers`)."""

    convolution: int = setting(
        0, "size of the short convolution of queries, keys and values; 0 for none", FLA, least=0, most=64
    )
    initial_spread: float = setting(
        0.0,
        "standard deviation of the initial weights; 0: uniform, as PyTorch's layers are",
        "flash-linear-attention's layers; its whole models draw them again, with 0.02",
        least=0,
        most=1,
    )

    def mixer_options(self) -> dict[str, Any]:
        """Returns the options of the mixers."""
        return {"convolution": self.convolution, "spread": self.initial_spread or None}


@settings
class AbstractDeltaFamily(AbstractFastWeightsFamily):
    """A family of fast weights that erases what a key had stored before it writes (the delta rule)."""

    convolution: int = setting(
        4, "size of the short convolution of queries, keys and values; 0 for none", FLA, least=0, most=64
    )
    eigenvalues: Eigenvalues = setting("0_1", RANGE, GRAZZI)

    def mixer_options(self) -> dict[str, Any]:
        return {**super().mixer_options(), "eigenvalues": self.eigenvalues}


@settings
class AbstractProductFamily(AbstractDeltaFamily):
    """A family that writes several times for every token: a product of Householder matrices."""

    eigenvalues: Eigenvalues = setting("-1_1", RANGE, "Siems et al. 2025; flash-linear-attention's layer")
    householders: int = setting(2, "writes per token, n_h", "Siems et al. 2025: 1 to 4", least=1, most=64)

    def mixer_options(self) -> dict[str, Any]:
        return {**super().mixer_options(), "householders": self.householders}
