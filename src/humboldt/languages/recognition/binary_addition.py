"""Binary addition (context-sensitive)."""

from humboldt.languages import Alphabet, tasks
from humboldt.languages.recognition.parts.binary import AbstractBinaryOperation


@tasks.register("recognition/binary_addition", version=1)
class BinaryAddition(AbstractBinaryOperation):
    """A sum of two numbers, least significant bits first.   11 + 1 = 001 -> yes"""

    sign = "+"
    weights = (1, 1, 1)
    input_alphabet = Alphabet(("0", "1", "+", "="))
    examples = (("1 1 + 1 = 0 0 1", "yes"), ("0 + 0 0 = 0 0", "yes"), ("1 + 1 = 1", "no"), ("+ 1 = 1", "no"))

    def result(self, x: int, y: int) -> int:
        return x + y

    def most_x(self, most: int) -> int | None:
        return most

    def most_y(self, most: int, x: int) -> int | None:
        return most - x
