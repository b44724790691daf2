"""First (regular)."""

from collections.abc import Sequence

from humboldt.languages import Alphabet, tasks
from humboldt.languages.recognition.base import AbstractRegular


@tasks.register("recognition/first", version=1)
class First(AbstractRegular):
    """Does it begin with `1`?   100 -> yes"""

    input_alphabet = Alphabet(("0", "1"))
    examples = (("1 0 0", "yes"), ("0 1", "no"), ("", "no"))
    automaton_text = """
    start s
    accept a
    s 1 a
    a 0 a
    a 1 a
    """

    def contains(self, symbols: Sequence[str]) -> bool:
        """Looks at the first symbol."""
        return bool(symbols) and symbols[0] == "1"
