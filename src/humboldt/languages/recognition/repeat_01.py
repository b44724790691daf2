"""Repeat 01 (regular)."""

from collections.abc import Sequence

from humboldt.languages import Alphabet, tasks
from humboldt.languages.recognition.base import AbstractRegular


@tasks.register("recognition/repeat_01", version=1)
class Repeat01(AbstractRegular):
    """Is it `01`, repeated any number of times?   0101 -> yes"""

    input_alphabet = Alphabet(("0", "1"))
    examples = (("0 1 0 1", "yes"), ("0 1 0", "no"), ("", "yes"))
    automaton_text = """
    start s
    accept s
    s 0 x
    x 1 s
    """

    def contains(self, symbols: Sequence[str]) -> bool:
        """Writes such a string of the same length, and compares."""
        return list(symbols) == ["0", "1"] * (len(symbols) // 2)
