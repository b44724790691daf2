"""Benchmarking neural network generalization for grammar induction (Lan et al. 2023): how much from how little?"""

from humboldt.suites import suites
from humboldt.suites.bliss.suite import Bliss

suites.register("bliss", version=1)(Bliss())
