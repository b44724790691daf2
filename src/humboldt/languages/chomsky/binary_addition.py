"""Binary Addition (context-sensitive)."""

from collections.abc import Sequence
from operator import add

from humboldt.languages import Alphabet, tasks
from humboldt.languages.chomsky.parts.binary import AbstractBinaryOperation, split, without_needless_zeros


@tasks.register("chomsky/binary_addition", version=1)
class BinaryAddition(AbstractBinaryOperation):
    """The sum of two binary numbers, least significant digit first.   10010+101 -> 0111# (9 + 5 = 14)"""

    input_alphabet = Alphabet(("0", "1", "+"))
    examples = (("1 0 0 1 0 + 1 0 1", "0 1 1 1 #"), ("1 + 1", "0 1 #"), ("0 1 + 1 0 0", "1 1 #"), ("0 + 0", "0 #"))
    combine = add

    def oracle(self, symbols: Sequence[str]) -> list[str]:
        """Adds column by column with carries, as in written addition."""
        first, second = split(symbols, "+")
        digits, carry = [], 0
        for column in range(max(len(first), len(second)) + 1):
            total = sum(number[column] for number in (first, second) if column < len(number)) + carry
            digits.append(total % 2)
            carry = total // 2
        return [*without_needless_zeros(digits), "#"]
