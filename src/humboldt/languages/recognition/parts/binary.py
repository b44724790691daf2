"""Binary numbers, least significant bit first, and the base class of x OPERATOR y = z."""

import itertools
from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from humboldt.languages.formal.continuations import Next
from humboldt.languages.recognition.base import AbstractRecognition

BITS = ("0", "1")


def value_of(bits: Sequence[str]) -> int:
    """Returns the value of bits, least significant first.

    >>> value_of(["0", "1", "1"])
    6
    """
    return int("".join(reversed(bits)), 2)


def bits_of(number: int, width: int) -> list[str]:
    """Returns a number in `width` bits, or more if it needs more.

    >>> bits_of(6, 4)
    ['0', '1', '1', '0']
    """
    return list(reversed(f"{number:0{width}b}"))


def uniform_below(rng: np.random.Generator, bound: int) -> int:
    """Returns a whole number of any size, uniform from 0 to `bound` - 1."""
    while True:
        bits = (bound - 1).bit_length()
        number = int.from_bytes(rng.bytes((bits + 7) // 8), "little") & ((1 << bits) - 1)
        if number < bound:
            return number


def parts_of(rng: np.random.Generator, total: int, weights: Sequence[float]) -> list[int]:
    """Splits `total` at random into parts of at least 1, by a Dirichlet distribution."""
    ends = np.floor(np.cumsum(rng.dirichlet(weights))[:-1] * (total - len(weights))).astype(int).tolist()
    bounds = [0, *ends, total - len(weights)]
    return [after - before + 1 for before, after in itertools.pairwise(bounds)]


def is_number(symbols: Sequence[str]) -> bool:
    """Returns whether symbols are at least one bit, and nothing else."""
    return len(symbols) > 0 and all(symbol in BITS for symbol in symbols)


def next_bits(written: Sequence[str], number: int) -> Next:
    """Returns the bits that can follow those of a number, which may end in zeros, and whether it can end.

    >>> next_bits(["0", "1"], 6) == Next(frozenset("1"), False), next_bits(["0", "1", "1"], 6).can_stop
    (True, True)
    """
    if not all(symbol in BITS for symbol in written) or (written and value_of(written) != number % 2 ** len(written)):
        return Next(frozenset(), False)
    return Next(frozenset(str(number >> len(written) & 1)), bool(written) and not number >> len(written))


class AbstractBinaryOperation(AbstractRecognition):
    """Strings x OPERATOR y = z. Numbers have any number of zeros at the end; each has at least one bit."""

    sign: ClassVar[str]
    weights: ClassVar[tuple[float, float, float]]  # of the lengths of x, y and z

    @abstractmethod
    def result(self, x: int, y: int) -> int:
        """Returns the result of the operation."""

    @abstractmethod
    def most_x(self, most: int) -> int | None:
        """Returns the largest x for which the result can be `most` or less; `None` if there is none."""

    @abstractmethod
    def most_y(self, most: int, x: int) -> int | None:
        """Returns the largest y for which the result is `most` or less; `None` if there is none."""

    def contains(self, symbols: Sequence[str]) -> bool:
        """Reads the three numbers and computes."""
        symbols = list(symbols)
        if symbols.count(self.sign) != 1 or symbols.count("=") != 1:
            return False
        first, second = symbols.index(self.sign), symbols.index("=")
        numbers = symbols[:first], symbols[first + 1 : second], symbols[second + 1 :]
        if first > second or not all(map(is_number, numbers)):
            return False
        x, y, z = map(value_of, numbers)
        return self.result(x, y) == z

    def valid_next(self, prefix: Sequence[str]) -> Next:
        """Returns the symbols that can follow: those of two numbers, then the bits of the result."""
        left, *rest = parted(prefix, self.sign)
        if not rest:
            return after_number(left, self.sign)
        right, *result = parted(rest[0], "=")
        if not is_number(left) or not result:
            return after_number(right, "=") if is_number(left) else Next(frozenset(), False)
        if not is_number(right):
            return Next(frozenset(), False)
        return next_bits(result[0], self.result(value_of(left), value_of(right)))

    def draw(self, rng: np.random.Generator, count: int, longest: int) -> list[list[int]]:
        """Draws lengths of the numbers, then numbers that leave room for the result, the shorter one first; the two
        are put in random order."""
        return [self.input_alphabet.encode(self._drawn(rng, longest)).tolist() for _ in range(count)]

    def _drawn(self, rng: np.random.Generator, longest: int) -> list[str]:
        length = int(rng.integers(5, longest + 1))
        *lengths, width = parts_of(rng, length - 2, self.weights)
        short, long = sorted(lengths)
        most = 2**width - 1
        x = uniform_below(rng, 1 + _least(2**short - 1, self.most_x(most)))
        y = uniform_below(rng, 1 + _least(2**long - 1, self.most_y(most, x)))
        numbers = bits_of(x, short), bits_of(y, long)
        left, right = numbers if rng.integers(2) else numbers[::-1]
        return [*left, self.sign, *right, "=", *bits_of(self.result(x, y), width)]


def parted(symbols: Sequence[str], sign: str) -> list[list[str]]:
    """Returns what is before and after the first sign; only the first if there is none."""
    symbols = list(symbols)
    place = symbols.index(sign) if sign in symbols else None
    return [symbols] if place is None else [symbols[:place], symbols[place + 1 :]]


def after_number(written: Sequence[str], sign: str) -> Next:
    """Returns the symbols that can follow the bits of a number that ends with a sign."""
    if written and not is_number(written):
        return Next(frozenset(), False)
    return Next(frozenset((*BITS, sign) if written else BITS), False)


def _least(bound: int, other: int | None) -> int:
    return bound if other is None else min(bound, other)
