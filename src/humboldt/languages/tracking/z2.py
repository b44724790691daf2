"""The word problem of Z2: the cyclic group of two elements (solvable, abelian)."""

from humboldt.languages import tasks
from humboldt.languages.tracking.base import AbstractGroup
from humboldt.settings import settings


@tasks.register("tracking/z2", version=1)
@settings
class Z2(AbstractGroup):
    """Z2: the parity of the swaps so far.   21 12 21 -> 21 21 12"""

    generated_by = ((1, 0), (0, 1))
    chance = 1 / 2
    examples = (("21 12 21", "21 21 12"), ("12", "12"))
