"""The word problem of S3: the symmetric group of degree 3 (solvable), six elements."""

from humboldt.languages import tasks
from humboldt.languages.tracking.base import AbstractGroup
from humboldt.settings import settings


@tasks.register("tracking/s3", version=1)
@settings
class S3(AbstractGroup):
    """S3: permutations of three objects."""

    generated_by = ((1, 0, 2), (1, 2, 0))
    chance = 1 / 6
    examples = (("213 231", "213 321"), ("231 231 231", "231 312 123"))
