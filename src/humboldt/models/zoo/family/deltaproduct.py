"""DeltaProduct, for every kind of problem."""

from typing import ClassVar

from humboldt.models import models
from humboldt.models.zoo.shared.backbone import AbstractProductFamily
from humboldt.settings import settings


@models.register("family/deltaproduct", version=1)
@settings
class DeltaProduct(AbstractProductFamily):
    """Blocks of DeltaProduct."""

    title: ClassVar[str] = "DeltaProduct"
    family: ClassVar[str] = "DeltaProduct"
    about: ClassVar[str] = "several delta-rule steps for every token (Siems et al. 2025)"
    mixers: ClassVar[tuple[str, ...]] = ("deltaproduct",)
