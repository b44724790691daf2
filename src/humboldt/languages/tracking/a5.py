"""The word problem of A5: the alternating group of degree 5, 60 elements: the smallest group that is not solvable."""

from humboldt.languages import tasks
from humboldt.languages.tracking.base import AbstractGroup
from humboldt.settings import settings


@tasks.register("tracking/a5", version=1)
@settings
class A5(AbstractGroup):
    """A5: even permutations of five objects."""

    generated_by = ((1, 2, 0, 3, 4), (0, 1, 3, 4, 2))
    chance = 1 / 60
    examples = (("23145 12453", "23145 24153"), ("23145 23145 23145", "23145 31245 12345"))
