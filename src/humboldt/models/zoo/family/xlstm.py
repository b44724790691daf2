"""xLSTM, for every kind of problem."""

from typing import Any, ClassVar, Literal

from humboldt.errors import UsageError
from humboldt.models import models
from humboldt.models.zoo.shared.backbone import AbstractHeadsFamily
from humboldt.settings import setting, settings


@models.register("family/xlstm", version=2)
@settings
class XLSTM(AbstractHeadsFamily):
    """Blocks of mLSTM, then blocks of sLSTM, in turn."""

    embedding_spread: Literal["0.02", "small", "1"] = setting(
        "small",
        "standard deviation of the initial embedding; small: the root of 2 / (5 width)",
        "xlstm's `small_init_init_`",
    )
    mlstm_blocks: int = setting(1, "blocks of mLSTM in a turn, a of [a:b]", "Beck et al. 2024", least=1, most=100)
    slstm_blocks: int = setting(1, "blocks of sLSTM in a turn, b of [a:b]", "Beck et al. 2024", least=1, most=100)
    convolution: int = setting(4, "size of the short convolution", "xlstm", least=1, most=64)

    title: ClassVar[str] = "xLSTM"
    family: ClassVar[str] = "xLSTM"
    about: ClassVar[str] = "blocks of mLSTM and sLSTM in turn, xLSTM[a:b] (Beck et al. 2024)"
    mixers: ClassVar[tuple[str, ...]] = ("mlstm", "slstm")
    tiny: ClassVar[dict[str, Any]] = {"layers": 2, "width": 8, "heads": 2}

    def check(self) -> None:
        """Checks relations between settings."""
        super().check()
        if 2 * self.width % 4:
            raise UsageError(f"width={self.width} is odd, but mLSTM maps twice the width in blocks of 4. Make it even.")

    def mixer_names(self) -> tuple[str, ...]:
        return ("mlstm",) * self.mlstm_blocks + ("slstm",) * self.slstm_blocks

    def mixer_options(self) -> dict[str, Any]:
        return {"convolution": self.convolution}
