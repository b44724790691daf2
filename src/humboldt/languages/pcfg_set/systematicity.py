"""Are known functions recombined (section 6.2)? Some pairs of functions are never neighbours in training."""

from humboldt.languages import tasks
from humboldt.languages.pcfg_set.base import AbstractTest, HasSplits
from humboldt.languages.pcfg_set.parts.corpus import VERSION, Corpus
from humboldt.languages.pcfg_set.parts.splits import systematicity_splits
from humboldt.settings import settings


@tasks.register("pcfg_set/systematicity", version=VERSION)
@settings
class Systematicity(AbstractTest):
    """Are known functions recombined (section 6.2)? Some pairs of functions are never neighbours in training."""

    def split(self, corpus: Corpus) -> HasSplits:
        return systematicity_splits(corpus, clean_validation=self.clean_validation)
