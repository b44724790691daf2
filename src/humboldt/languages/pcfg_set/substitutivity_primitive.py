"""Are synonyms treated as the same word (section 6.4)? In training, each is the only function of its items."""

from humboldt.languages import tasks
from humboldt.languages.pcfg_set.base import AbstractTest, HasSplits
from humboldt.languages.pcfg_set.parts.corpus import VERSION, Corpus
from humboldt.languages.pcfg_set.parts.substitutivity import PRIMITIVE_SHARE, primitive
from humboldt.settings import setting, settings


@tasks.register("pcfg_set/substitutivity_primitive", version=VERSION)
@settings
class PrimitiveSynonyms(AbstractTest):
    """Are synonyms treated as the same word (section 6.4)? In training, each is the only function of its items."""

    synonym_share: float = setting(
        PRIMITIVE_SHARE,
        "items added for each synonym, as a share of the training items",
        "section 6.4.1",
        above=0,
        most=1,
    )

    def split(self, corpus: Corpus) -> HasSplits:
        return primitive(corpus, share=self.synonym_share)
