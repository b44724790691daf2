"""Mamba, for every kind of problem."""

from typing import Any, ClassVar

from humboldt.models import models
from humboldt.models.zoo.shared.backbone import GRAZZI, RANGE, AbstractBackboneFamily, Eigenvalues
from humboldt.settings import setting, settings


@models.register("family/mamba", version=1)
@settings
class Mamba(AbstractBackboneFamily):
    """Blocks of Mamba."""

    eigenvalues: Eigenvalues = setting("0_1", RANGE, GRAZZI)
    state_size: int = setting(16, "states of every feature", "mamba's `mamba_simple.py`", least=1, most=65_536)
    expansion: int = setting(
        2, "features inside a block over the width", "mamba's `mamba_simple.py`", least=1, most=65_536
    )
    convolution: int = setting(4, "size of the short convolution", "mamba's `mamba_simple.py`", least=1, most=64)

    title: ClassVar[str] = "Mamba"
    family: ClassVar[str] = "Mamba"
    about: ClassVar[str] = "a selective diagonal state space (Gu and Dao 2023)"
    mixers: ClassVar[tuple[str, ...]] = ("mamba",)
    tiny: ClassVar[dict[str, Any]] = {"layers": 1, "width": 8, "state_size": 3}

    def mixer_options(self) -> dict[str, Any]:
        return {
            "eigenvalues": self.eigenvalues,
            "state_size": self.state_size,
            "expansion": self.expansion,
            "convolution": self.convolution,
        }
