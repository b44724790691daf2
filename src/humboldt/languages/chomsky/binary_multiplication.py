"""Binary Multiplication (context-sensitive)."""

from collections.abc import Sequence
from operator import mul

from humboldt.languages import Alphabet, tasks
from humboldt.languages.chomsky.parts.binary import AbstractBinaryOperation, split, without_needless_zeros


@tasks.register("chomsky/binary_multiplication", version=1)
class BinaryMultiplication(AbstractBinaryOperation):
    """The product of two binary numbers, least significant digit first.   01*101 -> 0101# (2 * 5 = 10)"""

    input_alphabet = Alphabet(("0", "1", "*"))
    examples = (("0 1 * 1 0 1", "0 1 0 1 #"), ("1 1 * 1 1", "1 0 0 1 #"), ("1 * 1 0", "1 #"), ("0 * 1", "0 #"))
    combine = mul

    def oracle(self, symbols: Sequence[str]) -> list[str]:
        """Counts the ones of each column of the long multiplication, then carries."""
        first, second = split(symbols, "*")
        columns = [0] * (len(first) + len(second))
        for i, left in enumerate(first):
            for j, right in enumerate(second):
                columns[i + j] += left * right
        for place in range(len(columns) - 1):
            columns[place + 1] += columns[place] // 2
            columns[place] %= 2
        return [*without_needless_zeros(columns), "#"]
