"""HGRN2, for every kind of problem."""

from typing import ClassVar

from humboldt.models import models
from humboldt.models.zoo.shared.backbone import AbstractFastWeightsFamily
from humboldt.settings import settings


@models.register("family/hgrn2", version=1)
@settings
class HGRN2(AbstractFastWeightsFamily):
    """Blocks of HGRN2. The least decay is 0 here; in the released model it is learnt above the first layer."""

    title: ClassVar[str] = "HGRN2"
    family: ClassVar[str] = "HGRN2"
    about: ClassVar[str] = "gated linear attention whose keys are one minus the gate (Qin et al. 2024)"
    mixers: ClassVar[tuple[str, ...]] = ("hgrn2",)
