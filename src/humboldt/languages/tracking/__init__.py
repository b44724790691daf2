"""Word problems of groups: which state is an automaton in after every symbol?"""

from humboldt.languages.tracking.base import AbstractGroup as AbstractGroup
from humboldt.languages.tracking.base import AbstractStateTracking as AbstractStateTracking
