"""Bucket sort (context-sensitive)."""

from humboldt.languages import Alphabet, tasks
from humboldt.languages.recognition.parts.marked import AbstractMarked


@tasks.register("recognition/bucket_sort", version=1)
class BucketSort(AbstractMarked):
    """A string, a mark, and its symbols in order.   312#123 -> yes"""

    input_alphabet = Alphabet(("1", "2", "3", "4", "5", "#"))
    examples = (("3 1 2 # 1 2 3", "yes"), ("3 1 2 # 1 3 2", "no"), ("#", "yes"), ("1 2", "no"))

    def image(self, word: list[str]) -> list[str]:
        return sorted(word)
