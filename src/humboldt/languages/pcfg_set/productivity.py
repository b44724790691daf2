"""Does a model generalise to larger sizes (section 6.3)? Test items are larger than all training items."""

from humboldt.languages import tasks
from humboldt.languages.pcfg_set.base import AbstractTest, HasSplits
from humboldt.languages.pcfg_set.parts.corpus import VERSION, Corpus
from humboldt.languages.pcfg_set.parts.splits import MOST_TRAINED_FUNCTIONS, productivity_splits
from humboldt.settings import setting, settings


@tasks.register("pcfg_set/productivity", version=VERSION)
@settings
class Productivity(AbstractTest):
    """Does a model generalise to larger sizes (section 6.3)? Test items are larger than all training items."""

    most_functions: int = setting(
        MOST_TRAINED_FUNCTIONS, "most functions of a training item", "section 6.3.1", least=1, most=100
    )

    def split(self, corpus: Corpus) -> HasSplits:
        return productivity_splits(corpus, most_functions=self.most_functions, clean_validation=self.clean_validation)
