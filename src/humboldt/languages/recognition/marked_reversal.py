"""Marked reversal (deterministic context-free)."""

from humboldt.languages import Alphabet, tasks
from humboldt.languages.recognition.parts.marked import AbstractMarked


@tasks.register("recognition/marked_reversal", version=1)
class MarkedReversal(AbstractMarked):
    """A string, a mark, and the string backwards.   01#10 -> yes"""

    input_alphabet = Alphabet(("0", "1", "#"))
    examples = (("0 1 # 1 0", "yes"), ("0 1 # 0 1", "no"), ("#", "yes"), ("", "no"))

    def image(self, word: list[str]) -> list[str]:
        return word[::-1]
