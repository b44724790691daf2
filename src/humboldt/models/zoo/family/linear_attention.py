"""Linear attention, for every kind of problem."""

from typing import ClassVar

from humboldt.models import models
from humboldt.models.zoo.shared.backbone import AbstractFastWeightsFamily
from humboldt.settings import settings


@models.register("family/linear_attention", version=1)
@settings
class LinearAttention(AbstractFastWeightsFamily):
    """Blocks of linear attention with positive features and a normaliser."""

    title: ClassVar[str] = "Linear attention"
    family: ClassVar[str] = "Linear attention"
    about: ClassVar[str] = "attention without softmax: a sum of key-value products (Katharopoulos et al. 2020)"
    mixers: ClassVar[tuple[str, ...]] = ("linear_attention",)
