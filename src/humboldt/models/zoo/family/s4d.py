"""S4D, for every kind of problem."""

from typing import Any, ClassVar, Literal

from humboldt.errors import UsageError
from humboldt.models import models
from humboldt.models.zoo.shared.backbone import AbstractBackboneFamily
from humboldt.settings import setting, settings


@models.register("family/s4d", version=1)
@settings
class S4D(AbstractBackboneFamily):
    """Blocks of S4D."""

    embedding_spread: Literal["0.02", "small", "1"] = setting(
        "1",
        "standard deviation of the initial embedding; small: the root of 2 / (5 width)",
        "PyTorch's `nn.Embedding`, which the released code uses",
    )
    state_size: int = setting(
        64, "states of every feature, an even number", "`s4d.py` in state-spaces/s4", least=2, most=65_536
    )

    title: ClassVar[str] = "S4D"
    family: ClassVar[str] = "S4D"
    about: ClassVar[str] = "a diagonal state space, the same at every step (Gu et al. 2022)"
    mixers: ClassVar[tuple[str, ...]] = ("s4d",)
    tiny: ClassVar[dict[str, Any]] = {"layers": 1, "width": 8, "state_size": 6}

    def check(self) -> None:
        """Checks that states come in pairs."""
        if self.state_size % 2:
            raise UsageError(f"state_size={self.state_size} is odd, but states come in conjugate pairs. Make it even.")

    def mixer_options(self) -> dict[str, Any]:
        return {"state_size": self.state_size}
