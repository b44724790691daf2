"""The word problem of Z60: the cyclic group of 60 elements (solvable, abelian)."""

from humboldt.languages import tasks
from humboldt.languages.tracking.base import AbstractGroup, Permutation
from humboldt.settings import settings


@tasks.register("tracking/z60", version=1)
@settings
class Z60(AbstractGroup):
    """Z60: the sum of the numbers so far, modulo 60.   50 20 -> 50 10

    An element is a turn of 60 points, named by how far it goes; the two that generate the group are 1 and 7.
    """

    generated_by = tuple(tuple((point + turn) % 60 for point in range(60)) for turn in (1, 7))  # pyright: ignore[reportAssignmentType]
    chance = 1 / 60
    examples = (("50 20", "50 10"), ("59 1 7", "59 0 7"))

    @classmethod
    def name(cls, element: Permutation) -> str:
        return str(element[0])
