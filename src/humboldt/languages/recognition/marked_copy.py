"""Marked copy (context-sensitive)."""

from humboldt.languages import Alphabet, tasks
from humboldt.languages.recognition.parts.marked import AbstractMarked


@tasks.register("recognition/marked_copy", version=1)
class MarkedCopy(AbstractMarked):
    """A string, a mark, and the string again.   01#01 -> yes"""

    input_alphabet = Alphabet(("0", "1", "#"))
    examples = (("0 1 # 0 1", "yes"), ("0 1 # 1 0", "no"), ("#", "yes"), ("0 0", "no"))

    def image(self, word: list[str]) -> list[str]:
        return word
