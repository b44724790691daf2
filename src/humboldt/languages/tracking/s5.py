"""The word problem of S5: the symmetric group of degree 5 (not solvable), 120 elements."""

from humboldt.languages import tasks
from humboldt.languages.tracking.base import AbstractGroup
from humboldt.settings import settings


@tasks.register("tracking/s5", version=1)
@settings
class S5(AbstractGroup):
    """S5: permutations of five objects."""

    generated_by = ((1, 0, 2, 3, 4), (1, 2, 3, 4, 0))
    chance = 1 / 120
    examples = (("21345 23451", "21345 32451"), ("21345 21345", "21345 12345"))
