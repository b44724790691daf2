"""Binary Addition (context-sensitive)."""

from collections.abc import Sequence
from operator import add

import numpy as np

from humboldt.languages import Alphabet, Pairs, tasks
from humboldt.languages.chomsky._base import AbstractTransduction, Level
from humboldt.languages.chomsky._binary import draw_operands, split, terminated, without_needless_zeros


@tasks.register("chomsky/binary_addition", version=1)
class BinaryAddition(AbstractTransduction):
    """The sum of two binary numbers, least significant digit first.   10010+101 -> 0111# (9 + 5 = 14)

    The sum has no needless zeros at its end and is followed by `#`; what follows that is not scored. A model is asked
    for one symbol more than the input has. The paper is silent on how the numbers are drawn; as in its released code
    they are positive, and may end with zeros.
    """

    level = Level.CONTEXT_SENSITIVE
    shortest = 3
    input_alphabet = Alphabet(("0", "1", "+"))
    output_alphabet = Alphabet(("0", "1", "#"))
    chance = 0.5
    examples = (("1 0 0 1 0 + 1 0 1", "0 1 1 1 #"), ("1 + 1", "0 1 #"), ("0 1 + 1 0 0", "1 1 #"), ("0 + 0", "0 #"))

    def _sample(self, rng: np.random.Generator, count: int, length: int) -> Pairs:
        expressions, first, second = draw_operands(rng, count, length)
        return Pairs.full(expressions, *terminated(list(map(add, first, second)), length + 1))

    def oracle(self, symbols: Sequence[str]) -> list[str]:
        """Adds column by column and carries, as at school."""
        first, second = split(symbols, "+")
        digits, carry = [], 0
        for column in range(max(len(first), len(second)) + 1):
            total = sum(number[column] for number in (first, second) if column < len(number)) + carry
            digits.append(total % 2)
            carry = total // 2
        return [*without_needless_zeros(digits), "#"]
