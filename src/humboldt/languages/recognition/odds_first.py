"""Odds first (context-sensitive)."""

from humboldt.languages import Alphabet, tasks
from humboldt.languages.recognition.parts.marked import AbstractMarked


@tasks.register("recognition/odds_first", version=1)
class OddsFirst(AbstractMarked):
    """A string, a mark, its symbols at odd places, then those at even places.   0011#0101 -> yes"""

    input_alphabet = Alphabet(("0", "1", "#"))
    examples = (("0 0 1 1 # 0 1 0 1", "yes"), ("0 1 # 1 0", "no"), ("#", "yes"), ("1", "no"))

    def image(self, word: list[str]) -> list[str]:
        return word[::2] + word[1::2]
