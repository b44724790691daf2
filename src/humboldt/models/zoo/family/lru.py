"""LRU, for every kind of problem."""

from typing import Any, ClassVar, Literal

from humboldt.models import models
from humboldt.models.zoo.shared.backbone import AbstractBackboneFamily
from humboldt.settings import setting, settings


@models.register("family/lru", version=1)
@settings
class LRU(AbstractBackboneFamily):
    """Blocks of LRU."""

    embedding_spread: Literal["0.02", "small", "1"] = setting(
        "1", "standard deviation of the initial embedding; small: the root of 2 / (5 width)", "PyTorch's `nn.Embedding`"
    )
    state_size: int = setting(0, "complex states; 0: as many as the width", "Orvieto et al. 2023", least=0, most=65_536)

    title: ClassVar[str] = "LRU"
    family: ClassVar[str] = "LRU"
    about: ClassVar[str] = "a linear recurrence with learnt complex eigenvalues (Orvieto et al. 2023)"
    mixers: ClassVar[tuple[str, ...]] = ("lru",)
    tiny: ClassVar[dict[str, Any]] = {"layers": 1, "width": 8, "state_size": 7}

    def mixer_options(self) -> dict[str, Any]:
        return {"state_size": self.state_size or None}
