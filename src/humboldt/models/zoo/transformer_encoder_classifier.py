"""The Transformer encoder of *Targeted syntactic evaluations with pseudo-languages*."""

from typing import ClassVar

from humboldt.models import models
from humboldt.models.zoo.shared.transformer_classifier import AbstractTransformerClassifier
from humboldt.settings import settings


@models.register("transformer_encoder_classifier", version=1)
@settings
class TransformerEncoderClassifier(AbstractTransformerClassifier):
    """Every token attends to every other; the answer is read from the mean of the real tokens (section 2.3)."""

    title: ClassVar[str] = "Transformer encoder"
    family: ClassVar[str] = "Transformer"
    causal = False
    pooling = "mean"
