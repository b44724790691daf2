"""The decoder-only Transformer with ALiBi, for every kind of problem."""

from typing import ClassVar

from humboldt.models import models
from humboldt.models.zoo.family.transformer import Transformer
from humboldt.models.zoo.shared.attention import AllPositions
from humboldt.settings import setting, settings


@models.register("family/transformer_alibi", version=1)
@settings
class TransformerALiBi(Transformer):
    """The family `transformer` with ALiBi."""

    positions: AllPositions = setting("alibi", "positional encoding", "what the family is named after")

    title: ClassVar[str] = "Transformer, ALiBi"
    about: ClassVar[str] = "decoder-only attention with linear biases for distance in attention (Press et al. 2022)"
