"""Gated DeltaProduct, for every kind of problem."""

from typing import ClassVar

from humboldt.models import models
from humboldt.models.zoo.shared.backbone import AbstractProductFamily
from humboldt.settings import settings


@models.register("family/gated_deltaproduct", version=1)
@settings
class GatedDeltaProduct(AbstractProductFamily):
    """Blocks of Gated DeltaProduct."""

    title: ClassVar[str] = "Gated DeltaProduct"
    family: ClassVar[str] = "Gated DeltaProduct"
    about: ClassVar[str] = "DeltaProduct with a decay per head (Siems et al. 2025)"
    mixers: ClassVar[tuple[str, ...]] = ("gated_deltaproduct",)
