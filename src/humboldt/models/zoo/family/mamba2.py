"""Mamba-2, for every kind of problem."""

from typing import Any, ClassVar

from humboldt.models import models
from humboldt.models.zoo.shared.backbone import AbstractHeadsFamily
from humboldt.settings import setting, settings


@models.register("family/mamba2", version=1)
@settings
class Mamba2(AbstractHeadsFamily):
    """Blocks of Mamba-2."""

    state_size: int = setting(128, "states of every feature", "mamba's `mamba2.py`", least=1, most=65_536)
    expansion: int = setting(2, "features inside a block over the width", "mamba's `mamba2.py`", least=1, most=65_536)
    convolution: int = setting(4, "size of the short convolution", "mamba's `mamba2.py`", least=1, most=64)

    title: ClassVar[str] = "Mamba-2"
    family: ClassVar[str] = "Mamba-2"
    about: ClassVar[str] = "a state space with one decay per head (Dao and Gu 2024)"
    mixers: ClassVar[tuple[str, ...]] = ("mamba2",)
    tiny: ClassVar[dict[str, Any]] = {"layers": 1, "width": 8, "heads": 2, "state_size": 5}

    def mixer_options(self) -> dict[str, Any]:
        return {"state_size": self.state_size, "expansion": self.expansion, "convolution": self.convolution}
