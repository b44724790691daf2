"""Even pairs (regular)."""

import itertools
from collections.abc import Sequence

from humboldt.languages import Alphabet, tasks
from humboldt.languages.recognition.base import AbstractRegular


@tasks.register("recognition/even_pairs", version=1)
class EvenPairs(AbstractRegular):
    """Is the number of pairs `01` and `10` even?   0110 -> yes"""

    input_alphabet = Alphabet(("0", "1"))
    examples = (("0 1 1 0", "yes"), ("0 1 1", "no"), ("", "yes"), ("1", "yes"))
    automaton_text = """
    start s
    accept s a b
    s 0 a
    s 1 b
    a 0 a
    a 1 x
    x 0 a
    x 1 x
    b 1 b
    b 0 y
    y 1 b
    y 0 y
    """

    def contains(self, symbols: Sequence[str]) -> bool:
        """Counts the neighbours that differ."""
        return sum(a != b for a, b in itertools.pairwise(symbols)) % 2 == 0
