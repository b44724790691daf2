"""PD-SSM, for every kind of problem."""

from typing import Any, ClassVar

from humboldt.models import models
from humboldt.models.zoo.shared.backbone import AbstractBackboneFamily
from humboldt.settings import setting, settings

RELEASED = "Terzić et al. 2025; the released `models/pdssm.py`"


@models.register("family/pd_ssm", version=1)
@settings
class PDSSM(AbstractBackboneFamily):
    """Blocks of PD-SSM."""

    state_size: int = setting(0, "complex states; 0: as many as the width", RELEASED, least=0, most=4096)
    matrices: int = setting(8, "matrices from which that of each token is mixed", RELEASED, least=1, most=4096)
    expansion: int = setting(
        2, "units of the networks that make the diagonal, over the states", RELEASED, least=1, most=4096
    )

    title: ClassVar[str] = "PD-SSM"
    family: ClassVar[str] = "PD-SSM"
    about: ClassVar[str] = "a complex state whose numbers each token moves and scales (Terzić et al. 2025)"
    mixers: ClassVar[tuple[str, ...]] = ("pd_ssm",)
    tiny: ClassVar[dict[str, Any]] = {"layers": 1, "width": 8, "state_size": 5, "matrices": 3}

    def mixer_options(self) -> dict[str, Any]:
        return {"state_size": self.state_size or None, "matrices": self.matrices, "expansion": self.expansion}
