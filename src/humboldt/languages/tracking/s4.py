"""The word problem of S4: the symmetric group of degree 4 (solvable), 24 elements."""

from humboldt.languages import tasks
from humboldt.languages.tracking.base import AbstractGroup
from humboldt.settings import settings


@tasks.register("tracking/s4", version=1)
@settings
class S4(AbstractGroup):
    """S4: permutations of four objects."""

    generated_by = ((1, 0, 2, 3), (1, 2, 3, 0))
    chance = 1 / 24
    examples = (("2134 2341", "2134 3241"), ("2134 2134", "2134 1234"))
