"""Binary numbers of any size, as rows of bits (least significant first) and as Python integers."""

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages import Alphabet, Pairs
from humboldt.languages.chomsky.base import AbstractTransduction, Level

TERMINATOR = 2  # id of `#` in the output alphabet `0 1 #`; the operator has the same id in the input alphabets


def draw_positive(rng: np.random.Generator, inside: np.ndarray) -> np.ndarray:
    """Returns random bits where `inside` is true and zeros elsewhere: all numbers but zero are equally likely.

    `inside`: boolean, shape `(count, time)`, with a true position in every row. The result has the same shape.
    """
    bits = rng.integers(0, 2, inside.shape, np.uint8) & inside
    while (zero := np.flatnonzero(~bits.any(1))).size:
        bits[zero] = rng.integers(0, 2, (zero.size, inside.shape[1]), np.uint8) & inside[zero]
    return bits


def draw_operands(rng: np.random.Generator, count: int, length: int) -> tuple[np.ndarray, list[int], list[int]]:
    """Returns expressions of two positive numbers with an operator between them, and the numbers.

    Expressions have shape `(count, length)`. Every position of the operator but the two ends is equally likely. Each
    number is uniform over the positive numbers that fit its digits, so it may end with zeros (its leading zeros, as
    numbers are little-endian), as in the released code.
    """
    position = np.arange(length)
    operator = rng.integers(1, length - 1, (count, 1))
    first = draw_positive(rng, position < operator)
    second = draw_positive(rng, position > operator)
    shifts = (operator[:, 0] + 1).tolist()
    numbers = [number >> shift for number, shift in zip(to_integers(second), shifts, strict=True)]
    return np.where(position == operator, TERMINATOR, first + second), to_integers(first), numbers


def terminated(numbers: Sequence[int], slots: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns targets of shape `(count, slots)` and their lengths: digits without needless zeros, then `#`."""
    digits = np.array([max(number.bit_length(), 1) for number in numbers], np.int32)
    targets = to_bits(numbers, slots)
    targets[np.arange(len(numbers)), digits] = TERMINATOR
    return targets, digits + 1


def to_integers(bits: np.ndarray) -> list[int]:
    """Returns the numbers whose bits are the rows of `bits`, least significant first."""
    packed = np.packbits(bits, axis=1, bitorder="little")
    return [int.from_bytes(row, "little") for row in packed]


def to_bits(numbers: Sequence[int], width: int) -> np.ndarray:
    """Returns the bits of numbers, shape `(count, width)`: the inverse of `to_integers`."""
    size = -(-width // 8)
    packed = np.frombuffer(b"".join(number.to_bytes(size, "little") for number in numbers), np.uint8)
    return np.unpackbits(packed.reshape(len(numbers), size), axis=1, count=width, bitorder="little")


def split(symbols: Sequence[str], operator: str) -> tuple[list[int], list[int]]:
    """Returns the digits before and after the only `operator`."""
    if list(symbols).count(operator) != 1 or operator in (symbols[0], symbols[-1]):
        raise UsageError(
            f"{' '.join(symbols)!r} is not two binary numbers around one {operator!r}. "
            f"Write it like '1 0 {operator} 1'."
        )
    middle = list(symbols).index(operator)
    return [int(symbol) for symbol in symbols[:middle]], [int(symbol) for symbol in symbols[middle + 1 :]]


def without_needless_zeros(digits: Sequence[int]) -> list[str]:
    """Returns the digits up to the last `1` as symbols; a single `0` for zero."""
    length = max((i for i, digit in enumerate(digits) if digit), default=0) + 1
    return [str(digit) for digit in digits[:length]]


class AbstractBinaryOperation(AbstractTransduction):
    """An operation on two binary numbers, least significant digit first; `combine` does it on Python integers.

    The result has no needless zeros at its end and is followed by `#`; later symbols are not scored. A model outputs
    one symbol more than the input has. The paper does not specify how the numbers are drawn; as in its released code
    they are positive, and may end with zeros.
    """

    level = Level.CONTEXT_SENSITIVE
    shortest = 3
    output_alphabet = Alphabet(("0", "1", "#"))
    chance = 0.5
    combine: ClassVar[Callable[[int, int], int]]

    def draw(self, rng: np.random.Generator, count: int, length: int) -> Pairs:
        expressions, first, second = draw_operands(rng, count, length)
        results = [type(self).combine(*numbers) for numbers in zip(first, second, strict=True)]
        return Pairs.full(expressions, *terminated(results, length + 1))
