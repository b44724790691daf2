"""What they do when in doubt: which of the rules that explain its examples does a learner prefer?"""

from humboldt.suites import suites
from humboldt.suites.bias.suite import Bias

suites.register("bias", version=1)(Bias())
