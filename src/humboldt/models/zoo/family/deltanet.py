"""DeltaNet, for every kind of problem."""

from typing import ClassVar

from humboldt.models import models
from humboldt.models.zoo.shared.backbone import AbstractDeltaFamily
from humboldt.settings import settings


@models.register("family/deltanet", version=1)
@settings
class DeltaNet(AbstractDeltaFamily):
    """Blocks of DeltaNet."""

    title: ClassVar[str] = "DeltaNet"
    family: ClassVar[str] = "DeltaNet"
    about: ClassVar[str] = "fast weights with the delta rule (Schlag et al. 2021; Yang et al. 2024)"
    mixers: ClassVar[tuple[str, ...]] = ("deltanet",)
