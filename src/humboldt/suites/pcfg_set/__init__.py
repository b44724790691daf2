"""Compositionality decomposed (Hupkes et al. 2020): is a model compositional?"""

from humboldt.suites import suites
from humboldt.suites.pcfg_set.suite import PcfgSet

suites.register("pcfg_set", version=1)(PcfgSet())
