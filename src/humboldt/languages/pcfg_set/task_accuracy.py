"""Can a model learn the task at all (section 6.1)? The base corpus as it is."""

from humboldt.languages import tasks
from humboldt.languages.pcfg_set.base import AbstractTest, HasSplits
from humboldt.languages.pcfg_set.parts.corpus import VERSION, Corpus
from humboldt.settings import settings


@tasks.register("pcfg_set/task_accuracy", version=VERSION)
@settings
class TaskAccuracy(AbstractTest):
    """Can a model learn the task at all (section 6.1)? The base corpus as it is."""

    def split(self, corpus: Corpus) -> HasSplits:
        return corpus
