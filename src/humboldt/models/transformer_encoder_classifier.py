"""The Transformer encoder of *Targeted syntactic evaluations with pseudo-languages*."""

from dataclasses import dataclass

from humboldt.models import models
from humboldt.models._transformer_classifier import TransformerClassifier


@models.register("transformer_encoder_classifier", version=1)
@dataclass(frozen=True, kw_only=True)
class TransformerEncoderClassifier(TransformerClassifier):
    """Every token sees every other; the answer is read from the mean of the real tokens (section 2.3)."""

    causal = False
    pooling = "mean"
