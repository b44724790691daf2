"""The languages of Lan et al. (2023), *Benchmarking neural network generalization for grammar induction* (BLISS)."""

from humboldt.languages import tasks
from humboldt.languages.bliss.base import AbstractLanguage as AbstractLanguage
from humboldt.languages.bliss.base import Measure as Measure
from humboldt.languages.bliss.parts.blocks import AbstractEqualBlocks as AbstractEqualBlocks
from humboldt.languages.bliss.parts.blocks import equal_blocks as equal_blocks
from humboldt.languages.bliss.parts.corpus import BOUNDARY as BOUNDARY
from humboldt.languages.bliss.parts.corpus import PRIOR as PRIOR
from humboldt.languages.bliss.parts.corpus import Corpus as Corpus
from humboldt.languages.bliss.parts.corpus import from_released as from_released
from humboldt.languages.bliss.parts.corpus import read_released as read_released
from humboldt.languages.bliss.parts.corpus import to_released as to_released
from humboldt.languages.bliss.parts.dyck import AbstractDyck as AbstractDyck
from humboldt.languages.bliss.parts.test_set import AbstractTestSet as AbstractTestSet

NAMES = ("an_bn", "an_bn_cn", "an_bn_cn_dn", "an_bm_cn_plus_m", "dyck_1", "dyck_2")  # in the order of Table 2


def get(name: str) -> AbstractLanguage:
    """Returns the language of that name.

    >>> get("an_bn").corpus(3, seed=100).strings
    ('aabb', 'aaabbb', 'aaabbb')
    """
    task = tasks.get(f"bliss/{name}")()
    assert isinstance(task, AbstractLanguage)
    return task
