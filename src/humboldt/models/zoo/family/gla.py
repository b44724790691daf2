"""GLA, for every kind of problem."""

from typing import ClassVar

from humboldt.models import models
from humboldt.models.zoo.shared.backbone import AbstractFastWeightsFamily
from humboldt.settings import settings


@models.register("family/gla", version=1)
@settings
class GLA(AbstractFastWeightsFamily):
    """Blocks of gated linear attention."""

    title: ClassVar[str] = "GLA"
    family: ClassVar[str] = "GLA"
    about: ClassVar[str] = "linear attention with a gate per key feature (Yang et al. 2024)"
    mixers: ClassVar[tuple[str, ...]] = ("gla",)
