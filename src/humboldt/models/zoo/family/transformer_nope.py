"""The decoder-only Transformer with no positions, for every kind of problem."""

from typing import ClassVar

from humboldt.models import models
from humboldt.models.zoo.family.transformer import Transformer
from humboldt.models.zoo.shared.attention import AllPositions
from humboldt.settings import setting, settings


@models.register("family/transformer_nope", version=1)
@settings
class TransformerNoPE(Transformer):
    """The family `transformer` with no positions."""

    positions: AllPositions = setting("none", "positional encoding", "what the family is named after")

    title: ClassVar[str] = "Transformer, no positions"
    about: ClassVar[str] = "decoder-only attention with no positional encoding at all (Kazemnejad et al. 2023)"
