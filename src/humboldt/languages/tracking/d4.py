"""The word problem of D4: the dihedral group of eight elements (solvable)."""

from humboldt.languages import tasks
from humboldt.languages.tracking.base import AbstractGroup
from humboldt.settings import settings


@tasks.register("tracking/d4", version=1)
@settings
class D4(AbstractGroup):
    """D4: the symmetries of a square."""

    generated_by = ((1, 2, 3, 0), (3, 2, 1, 0))
    chance = 1 / 8
    examples = (("2341 2341 4321", "2341 3412 2143"), ("4321 4321", "4321 1234"))
