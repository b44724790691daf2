"""Cycle navigation (regular)."""

from collections.abc import Sequence

from humboldt.languages import Alphabet, tasks
from humboldt.languages.recognition.base import AbstractRegular

PLACES, MOVES = "01234", {">": 1, "<": -1, "=": 0}


def _written() -> str:
    lines = ["start p0", "accept end"]
    for place in PLACES:
        lines += [f'p{place} "{move}" p{(int(place) + by) % 5}' for move, by in MOVES.items()]
        lines.append(f"p{place} {place} end")
    return "\n".join(lines)


@tasks.register("recognition/cycle_navigation", version=1)
class CycleNavigation(AbstractRegular):
    """Moves on a cycle of five from place 0, then the place that they lead to.   > > < 1 -> yes"""

    input_alphabet = Alphabet((*PLACES, "<", "=", ">"))
    examples = (("> > < 1", "yes"), ("< = 4", "yes"), ("> 0", "no"), ("0", "yes"), ("> 1 0", "no"))
    automaton_text = _written()

    def contains(self, symbols: Sequence[str]) -> bool:
        """Makes the moves one by one."""
        if not symbols or symbols[-1] not in PLACES or any(symbol not in MOVES for symbol in symbols[:-1]):
            return False
        return int(symbols[-1]) == sum(MOVES[symbol] for symbol in symbols[:-1]) % 5
