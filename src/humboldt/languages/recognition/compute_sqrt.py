"""Compute sqrt (context-sensitive)."""

import math
from collections.abc import Sequence

import numpy as np

from humboldt.languages import Alphabet, tasks
from humboldt.languages.formal.continuations import Next
from humboldt.languages.recognition.base import AbstractRecognition
from humboldt.languages.recognition.parts.binary import (
    after_number,
    bits_of,
    is_number,
    next_bits,
    parted,
    parts_of,
    uniform_below,
    value_of,
)


@tasks.register("recognition/compute_sqrt", version=1)
class ComputeSqrt(AbstractRecognition):
    """A number and its square root, rounded down; least significant bits first.   011 = 01 -> yes"""

    input_alphabet = Alphabet(("0", "1", "="))
    examples = (("0 1 1 = 0 1", "yes"), ("1 0 = 1 0 0", "yes"), ("0 0 1 = 1", "no"), ("= 0", "no"))

    def contains(self, symbols: Sequence[str]) -> bool:
        """Checks that the root is the largest number whose square is not too large."""
        symbols = list(symbols)
        if symbols.count("=") != 1:
            return False
        place = symbols.index("=")
        numbers = symbols[:place], symbols[place + 1 :]
        if not all(map(is_number, numbers)):
            return False
        square, root = map(value_of, numbers)
        return root * root <= square < (root + 1) * (root + 1)

    def valid_next(self, prefix: Sequence[str]) -> Next:
        """Returns the symbols that can follow: those of a number, then the bits of its root."""
        number, *root = parted(prefix, "=")
        if not root:
            return after_number(number, "=")
        if not is_number(number):
            return Next(frozenset(), False)
        return next_bits(root[0], math.isqrt(value_of(number)))

    def draw(self, rng: np.random.Generator, count: int, longest: int) -> list[list[int]]:
        """Draws the lengths of both numbers, then a number whose root has room."""
        strings = []
        for _ in range(count):
            length = int(rng.integers(3, longest + 1))
            width, width_of_root = parts_of(rng, length - 1, (2, 1))
            number = uniform_below(rng, min(2**width, 2 ** (2 * width_of_root)))
            written = [*bits_of(number, width), "=", *bits_of(math.isqrt(number), width_of_root)]
            strings.append(self.input_alphabet.encode(written).tolist())
        return strings
