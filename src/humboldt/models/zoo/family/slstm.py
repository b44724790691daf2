"""sLSTM, for every kind of problem."""

from typing import Any, ClassVar, Literal

from humboldt.models import models
from humboldt.models.zoo.shared.backbone import AbstractHeadsFamily
from humboldt.settings import setting, settings


@models.register("family/slstm", version=2)
@settings
class SLSTM(AbstractHeadsFamily):
    """Blocks of sLSTM, xLSTM[0:1]."""

    embedding_spread: Literal["0.02", "small", "1"] = setting(
        "small",
        "standard deviation of the initial embedding; small: the root of 2 / (5 width)",
        "xlstm's `small_init_init_`",
    )
    convolution: int = setting(
        4,
        "size of the short convolution; 0 for none",
        "xlstm; none for the formal languages of Beck et al. 2024",
        least=0,
        most=64,
    )
    bias: Literal["powerlaw_blockdependent", "small_init", "standard", "zeros"] = setting(
        "powerlaw_blockdependent", "initial biases, by xlstm's names", "xlstm"
    )
    recurrent: Literal["zeros", "standard"] = setting("zeros", "initial recurrent matrices", "xlstm")

    title: ClassVar[str] = "sLSTM"
    family: ClassVar[str] = "sLSTM"
    about: ClassVar[str] = "an LSTM with exponential gates, recurrent within a head (Beck et al. 2024)"
    mixers: ClassVar[tuple[str, ...]] = ("slstm",)

    def mixer_options(self) -> dict[str, Any]:
        return {"convolution": self.convolution, "bias": self.bias, "recurrent": self.recurrent}
