"""Are synonyms taken for the same word (section 6.4)? They are as frequent as the words they replace."""

from typing import ClassVar

from humboldt.languages import tasks
from humboldt.languages.pcfg_set._corpus import VERSION, Corpus
from humboldt.languages.pcfg_set._functions import SYNONYM
from humboldt.languages.pcfg_set._substitutivity import FUNCTIONS_WITH_SYNONYMS, equally_distributed
from humboldt.languages.pcfg_set._test import AbstractTest, HasSplits
from humboldt.settings import settings


@tasks.register("pcfg_set/substitutivity_equally_distributed", version=VERSION)
@settings
class EquallyDistributed(AbstractTest):
    """Are synonyms taken for the same word (section 6.4)? They are as frequent as the words they replace."""

    synonyms: ClassVar[tuple[str, ...]] = tuple(name + SYNONYM for name in FUNCTIONS_WITH_SYNONYMS)

    def split(self, corpus: Corpus) -> HasSplits:
        return equally_distributed(corpus)
