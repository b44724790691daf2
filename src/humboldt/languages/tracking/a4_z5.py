"""The word problem of A4 x Z5: as large as A5, but solvable."""

from humboldt.languages import tasks
from humboldt.languages.tracking.base import AbstractGroup, Permutation
from humboldt.settings import settings


@tasks.register("tracking/a4_z5", version=1)
@settings
class A4Z5(AbstractGroup):
    """A4 x Z5: an even permutation of four objects, and a sum modulo 5.   2314.1 2143.4 -> 2314.1 1423.0

    The points 0 to 3 are the four objects, the points 4 to 8 a cycle.
    """

    generated_by = ((1, 2, 0, 3, 5, 6, 7, 8, 4), (1, 0, 3, 2, 4, 5, 6, 7, 8))
    chance = 1 / 60
    examples = (("2314.1 2143.4", "2314.1 1423.0"), ("2314.2 2314.2 2314.2", "2314.2 3124.4 1234.1"))

    @classmethod
    def name(cls, element: Permutation) -> str:
        return f"{super().name(element[:4])}.{element[4] - 4}"
