"""Binary Multiplication (context-sensitive)."""

from collections.abc import Sequence
from operator import mul

import numpy as np

from humboldt.languages import Alphabet, Pairs, tasks
from humboldt.languages.chomsky._base import AbstractTransduction, Level
from humboldt.languages.chomsky._binary import draw_operands, split, terminated, without_needless_zeros


@tasks.register("chomsky/binary_multiplication", version=1)
class BinaryMultiplication(AbstractTransduction):
    """The product of two binary numbers, least significant digit first.   01*101 -> 0101# (2 * 5 = 10)

    The product has no needless zeros at its end and is followed by `#`; what follows that is not scored. A model is
    asked for one symbol more than the input has. The paper is silent on how the numbers are drawn; as in its released
    code they are positive, and may end with zeros.
    """

    level = Level.CONTEXT_SENSITIVE
    shortest = 3
    input_alphabet = Alphabet(("0", "1", "*"))
    output_alphabet = Alphabet(("0", "1", "#"))
    chance = 0.5
    examples = (("0 1 * 1 0 1", "0 1 0 1 #"), ("1 1 * 1 1", "1 0 0 1 #"), ("1 * 1 0", "1 #"), ("0 * 1", "0 #"))

    def _sample(self, rng: np.random.Generator, count: int, length: int) -> Pairs:
        expressions, first, second = draw_operands(rng, count, length)
        return Pairs.full(expressions, *terminated(list(map(mul, first, second)), length + 1))

    def oracle(self, symbols: Sequence[str]) -> list[str]:
        """Counts the ones of each column of the long multiplication, then carries."""
        first, second = split(symbols, "*")
        columns = [0] * (len(first) + len(second))
        for i, one in enumerate(first):
            for j, other in enumerate(second):
                columns[i + j] += one * other
        for place in range(len(columns) - 1):
            columns[place + 1] += columns[place] // 2
            columns[place] %= 2
        return [*without_needless_zeros(columns), "#"]
