"""Are synonyms treated as the same word (section 6.4)? They are as frequent as the words they replace."""

from humboldt.languages import tasks
from humboldt.languages.pcfg_set.base import AbstractTest, HasSplits
from humboldt.languages.pcfg_set.parts.corpus import VERSION, Corpus
from humboldt.languages.pcfg_set.parts.substitutivity import equally_distributed
from humboldt.settings import settings


@tasks.register("pcfg_set/substitutivity_equally_distributed", version=VERSION)
@settings
class EquallyDistributed(AbstractTest):
    """Are synonyms treated as the same word (section 6.4)? They are as frequent as the words they replace."""

    def split(self, corpus: Corpus) -> HasSplits:
        return equally_distributed(corpus)
