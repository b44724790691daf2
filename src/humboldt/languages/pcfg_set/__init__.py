"""PCFG SET, the language of Hupkes et al. (2020), *Compositionality decomposed*."""

from humboldt.languages.pcfg_set._productions import estimate as estimate
from humboldt.languages.pcfg_set._productions import statistics as statistics
