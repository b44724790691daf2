"""Targeted syntactic evaluations with pseudo-languages: does a model see structure without words?"""

from humboldt.suites import suites
from humboldt.suites.syntax.suite import Syntax

suites.register("syntax", version=1)(Syntax())
