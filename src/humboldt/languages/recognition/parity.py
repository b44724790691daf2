"""Parity (regular)."""

from collections.abc import Sequence

from humboldt.languages import Alphabet, tasks
from humboldt.languages.recognition.base import AbstractRegular


@tasks.register("recognition/parity", version=1)
class Parity(AbstractRegular):
    """Is the number of `1`s odd?   1011 -> yes"""

    input_alphabet = Alphabet(("0", "1"))
    examples = (("1 0 1 1", "yes"), ("1 1", "no"), ("", "no"))
    automaton_text = """
    start even
    accept odd
    even 0 even
    even 1 odd
    odd 0 odd
    odd 1 even
    """

    def contains(self, symbols: Sequence[str]) -> bool:
        """Counts the `1`s."""
        return list(symbols).count("1") % 2 == 1
