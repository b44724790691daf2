"""The Transformer decoder of *Targeted syntactic evaluations with pseudo-languages*."""

from typing import ClassVar

from humboldt.models import models
from humboldt.models.zoo.shared.transformer_classifier import AbstractTransformerClassifier
from humboldt.settings import settings


@models.register("transformer_decoder_classifier", version=1)
@settings
class TransformerDecoderClassifier(AbstractTransformerClassifier):
    """A token attends to itself and the tokens before it; the answer is read at the last real token (section 2.3)."""

    title: ClassVar[str] = "Transformer decoder"
    family: ClassVar[str] = "Transformer"
    causal = True
    pooling = "last"
