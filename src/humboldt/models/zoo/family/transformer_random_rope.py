"""The decoder-only Transformer with randomised RoPE, for problems whose strings are known as a whole."""

from typing import ClassVar

from humboldt.core.problems import ProblemKind
from humboldt.models import models
from humboldt.models.zoo.family.transformer import Transformer
from humboldt.models.zoo.shared.attention import AllPositions
from humboldt.settings import setting, settings


@models.register("family/transformer_random_rope", version=1)
@settings
class TransformerRandomRoPE(Transformer):
    """The family `transformer` with randomised RoPE."""

    positions: AllPositions = setting("random_rope", "positional encoding", "what the family is named after")

    problems: ClassVar[tuple[ProblemKind, ...]] = (ProblemKind.TRANSDUCTION, ProblemKind.CLASSIFICATION)
    title: ClassVar[str] = "Transformer, randomised RoPE"
    about: ClassVar[str] = "decoder-only attention with rotary positions drawn from many places (Ruoss et al. 2023)"
