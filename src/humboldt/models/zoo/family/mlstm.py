"""mLSTM, for every kind of problem."""

from typing import Any, ClassVar, Literal

from humboldt.errors import UsageError
from humboldt.models import models
from humboldt.models.zoo.shared.backbone import AbstractHeadsFamily
from humboldt.settings import setting, settings


@models.register("family/mlstm", version=1)
@settings
class MLSTM(AbstractHeadsFamily):
    """Blocks of mLSTM, xLSTM[1:0]."""

    embedding_spread: Literal["0.02", "small", "1"] = setting(
        "small",
        "standard deviation of the initial embedding; small: the root of 2 / (5 width)",
        "xlstm's `small_init_init_`",
    )
    expansion: int = setting(2, "features inside a block over the width", "xlstm", least=1, most=65_536)
    convolution: int = setting(4, "size of the short convolution", "xlstm", least=1, most=64)

    title: ClassVar[str] = "mLSTM"
    family: ClassVar[str] = "mLSTM"
    about: ClassVar[str] = "a matrix memory with exponential gates (Beck et al. 2024)"
    mixers: ClassVar[tuple[str, ...]] = ("mlstm",)

    def check(self) -> None:
        """Checks relations between settings."""
        super().check()
        if self.expansion * self.width % 4:
            raise UsageError(
                f"width={self.width} times expansion={self.expansion} is not a multiple of 4, the features of a block "
                "of mLSTM's maps. Change the width."
            )

    def mixer_options(self) -> dict[str, Any]:
        return {"expansion": self.expansion, "convolution": self.convolution}
