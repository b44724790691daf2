"""Gated DeltaNet, for every kind of problem."""

from typing import ClassVar

from humboldt.models import models
from humboldt.models.zoo.shared.backbone import AbstractDeltaFamily
from humboldt.settings import settings


@models.register("family/gated_deltanet", version=1)
@settings
class GatedDeltaNet(AbstractDeltaFamily):
    """Blocks of Gated DeltaNet."""

    title: ClassVar[str] = "Gated DeltaNet"
    family: ClassVar[str] = "Gated DeltaNet"
    about: ClassVar[str] = "the delta rule with a decay per head (Yang et al. 2025)"
    mixers: ClassVar[tuple[str, ...]] = ("gated_deltanet",)
