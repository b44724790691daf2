"""One paper each: its tasks, models, protocol, presets and table layout.

The half of a suite that plans, samples, scores and tabulates imports neither JAX nor torch; what trains is in a file
of its own and imported when it is needed.
"""

from humboldt.registry import Registry
from humboldt.suites._base import AbstractSuite

suites: Registry[AbstractSuite] = Registry("suite", "humboldt.suites")
