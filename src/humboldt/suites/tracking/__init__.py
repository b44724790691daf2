"""Word problems of groups: does a model keep state?"""

from humboldt.suites import suites
from humboldt.suites.tracking.suite import Tracking

suites.register("tracking", version=1)(Tracking())
