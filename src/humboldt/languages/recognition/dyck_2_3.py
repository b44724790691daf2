"""Dyck-(2, 3): two pairs of brackets, nested at most three deep (regular)."""

import itertools
from collections.abc import Sequence

from humboldt.languages import Alphabet, tasks
from humboldt.languages.recognition.base import AbstractRegular

PAIRS = {"(": ")", "[": "]"}
DEEPEST = 3


def _written() -> str:
    names = {"(": "r", "[": "s"}  # round, square
    lines = ["start q", "accept q"]
    for depth in range(DEEPEST):
        for opened in itertools.product(PAIRS, repeat=depth):
            state = "q" + "".join(names[bracket] for bracket in opened)
            for bracket, closing in PAIRS.items():
                lines += [
                    f'{state} "{bracket}" {state}{names[bracket]}',
                    f'{state}{names[bracket]} "{closing}" {state}',
                ]
    return "\n".join(lines)


@tasks.register("recognition/dyck_2_3", version=1)
class Dyck23(AbstractRegular):
    """Are all brackets closed in order, with at most three open at a time?   ( [ ] ) -> yes"""

    input_alphabet = Alphabet(("(", ")", "[", "]"))
    examples = (("( [ ] )", "yes"), ("( [ ) ]", "no"), ("( ( ( ( ) ) ) )", "no"), ("", "yes"), ("(", "no"))
    automaton_text = _written()

    def contains(self, symbols: Sequence[str]) -> bool:
        """Keeps the open brackets in a list."""
        opened: list[str] = []
        for symbol in symbols:
            if symbol in PAIRS:
                opened.append(symbol)
            elif not opened or PAIRS[opened.pop()] != symbol:
                return False
            if len(opened) > DEEPEST:
                return False
        return not opened
