"""The 18 languages of Butoi et al. (2025), *Training neural networks as recognizers of formal languages* (FLaRe)."""

from humboldt.languages.recognition.base import AbstractRecognition as AbstractRecognition
from humboldt.languages.recognition.base import AbstractRegular as AbstractRegular
from humboldt.languages.recognition.parts.examples import Examples as Examples
from humboldt.languages.recognition.parts.examples import draw_examples as draw_examples
