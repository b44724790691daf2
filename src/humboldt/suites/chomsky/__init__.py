"""Neural networks and the Chomsky hierarchy (Delétang et al. 2023): does a model run on longer inputs?"""

from humboldt.suites import suites
from humboldt.suites.chomsky.suite import Chomsky

suites.register("chomsky", version=1)(Chomsky())
