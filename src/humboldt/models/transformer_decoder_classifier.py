"""The Transformer decoder of *Targeted syntactic evaluations with pseudo-languages*."""

from dataclasses import dataclass

from humboldt.models import models
from humboldt.models._transformer_classifier import TransformerClassifier


@models.register("transformer_decoder_classifier", version=1)
@dataclass(frozen=True, kw_only=True)
class TransformerDecoderClassifier(TransformerClassifier):
    """A token sees itself and what is before it; the answer is read from the last real token (section 2.3)."""

    causal = True
    pooling = "last"
