"""Binary multiplication (context-sensitive)."""

from humboldt.languages import Alphabet, tasks
from humboldt.languages.recognition.parts.binary import AbstractBinaryOperation


@tasks.register("recognition/binary_multiplication", version=1)
class BinaryMultiplication(AbstractBinaryOperation):
    """A product of two numbers, least significant bits first.   11 * 01 = 011 -> yes"""

    sign = "*"
    weights = (1, 1, 2)
    input_alphabet = Alphabet(("0", "1", "*", "="))
    examples = (("1 1 * 0 1 = 0 1 1", "yes"), ("0 * 1 = 0 0", "yes"), ("1 * 1 = 0", "no"), ("1 = 1 * 1", "no"))

    def result(self, x: int, y: int) -> int:
        return x * y

    def most_x(self, most: int) -> int | None:
        del most
        return None  # any number times 0

    def most_y(self, most: int, x: int) -> int | None:
        return most // x if x else None
