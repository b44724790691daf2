"""Are exceptions at first treated as regular (section 6.6)? A few training items have exceptional targets."""

from humboldt.languages import tasks
from humboldt.languages.pcfg_set.base import AbstractTest, HasSplits
from humboldt.languages.pcfg_set.parts.corpus import VERSION, Corpus
from humboldt.languages.pcfg_set.parts.overgeneralisation import RATES, overgeneralisation_splits
from humboldt.settings import Role, setting, settings


@tasks.register("pcfg_set/overgeneralisation", version=VERSION)
@settings
class OvergeneralisationTest(AbstractTest):
    """Are exceptions at first treated as regular (section 6.6)? A few training items have exceptional targets."""

    rates: tuple[float, ...] = setting(
        RATES,
        "exceptions of each pair, as a share of the items that hold its rarer function; a training each",
        "section 6.6.1",
        role=Role.EACH,
        each="rate",
        above=0,
        most=1,
    )

    def split(self, corpus: Corpus) -> HasSplits:
        (rate,) = self.rates
        return overgeneralisation_splits(corpus, rate, clean_validation=self.clean_validation)
