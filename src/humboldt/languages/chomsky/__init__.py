"""The tasks of Delétang et al. (2023), *Neural networks and the Chomsky hierarchy*, appendix A.3."""

from humboldt.languages.chomsky.base import AbstractTransduction as AbstractTransduction
from humboldt.languages.chomsky.base import Level as Level
