"""minGRU, for every kind of problem."""

from typing import Any, ClassVar, Literal

from humboldt.models import models
from humboldt.models.zoo.shared.backbone import AbstractBackboneFamily
from humboldt.settings import setting, settings


@models.register("family/mingru", version=1)
@settings
class MinGRU(AbstractBackboneFamily):
    """Blocks of minGRU."""

    embedding_spread: Literal["0.02", "small", "1"] = setting(
        "1",
        "standard deviation of the initial embedding; small: the root of 2 / (5 width)",
        "PyTorch's `nn.Embedding`, which lucidrains/minGRU-pytorch uses",
    )
    expansion: int = setting(1, "states over the width", "lucidrains/minGRU-pytorch: 1 or 1.5", least=1, most=65_536)
    positive: bool = setting(
        True, "whether candidates are positive, as in the log-space form", "Feng et al. 2024, appendix B.3"
    )

    title: ClassVar[str] = "minGRU"
    family: ClassVar[str] = "minGRU"
    about: ClassVar[str] = "a GRU whose gates see the input alone (Feng et al. 2024)"
    mixers: ClassVar[tuple[str, ...]] = ("mingru",)
    tiny: ClassVar[dict[str, Any]] = {"layers": 1, "width": 8, "expansion": 2}

    def mixer_options(self) -> dict[str, Any]:
        return {"expansion": self.expansion, "positive": self.positive}
