"""The decoder-only Transformer with FIRE, for every kind of problem."""

from typing import ClassVar

from humboldt.models import models
from humboldt.models.zoo.family.transformer import Transformer
from humboldt.models.zoo.shared.attention import AllPositions
from humboldt.settings import setting, settings


@models.register("family/transformer_fire", version=1)
@settings
class TransformerFIRE(Transformer):
    """The family `transformer` with FIRE."""

    positions: AllPositions = setting("fire", "positional encoding", "what the family is named after")

    title: ClassVar[str] = "Transformer, FIRE"
    about: ClassVar[str] = (
        "decoder-only attention with a learnt function of relative distance in attention (Li et al. 2024)"
    )
