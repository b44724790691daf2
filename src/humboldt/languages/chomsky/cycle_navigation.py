"""Cycle Navigation (regular)."""

from collections.abc import Sequence

import numpy as np

from humboldt.languages import Alphabet, Pairs, tasks
from humboldt.languages.chomsky.base import AbstractTransduction, Level

STEP = np.array([0, 1, -1])  # of the symbols 0, 1, 2: STAY, INCREASE, DECREASE


@tasks.register("chomsky/cycle_navigation", version=1)
class CycleNavigation(AbstractTransduction):
    """Where does a walk on a cycle of five end, from position 0?   010211 -> 2

    `0` stays, `1` goes one up, `2` goes one down.
    """

    level = Level.REGULAR
    input_alphabet = Alphabet(("0", "1", "2"))
    output_alphabet = Alphabet(("0", "1", "2", "3", "4"))
    chance = 0.2
    examples = (("0 1 0 2 1 1", "2"), ("2", "4"), ("0", "0"))

    def draw(self, rng: np.random.Generator, count: int, length: int) -> Pairs:
        moves = rng.integers(0, 3, (count, length), np.int32)
        return Pairs.full(moves, STEP[moves].sum(1, keepdims=True) % 5)

    def oracle(self, symbols: Sequence[str]) -> list[str]:
        """Makes the moves one by one."""
        position = 0
        for symbol in symbols:
            if symbol == "1":
                position = 0 if position == 4 else position + 1
            elif symbol == "2":
                position = 4 if position == 0 else position - 1
        return [str(position)]
