"""Compute Sqrt (context-sensitive)."""

from collections.abc import Sequence
from math import isqrt
from typing import Literal

import numpy as np

from humboldt.languages import Alphabet, Pairs, tasks
from humboldt.languages.chomsky.base import AbstractTransduction, Level
from humboldt.languages.chomsky.parts.binary import draw_positive, to_bits, to_integers
from humboldt.settings import setting, settings


@tasks.register("chomsky/compute_sqrt", version=1)
@settings
class ComputeSqrt(AbstractTransduction):
    """The floor of the square root of a binary number, least significant digit first.   101001 -> 011 (37, 6)

    The root has half as many digits as the number, rounded up, and is padded with zeros. All positive numbers of a
    length are equally likely, as in the released code (the paper does not specify it). The paper specifies
    little-endian, though the answers it prints for 100010 and 101001 fit neither order.

    **Arguments:**

    - `endian`: `"little"`, or `"big"` for most significant digit first, as in the paper's released code.
    """

    endian: Literal["little", "big"] = setting(
        "little",
        "which digit comes first: the least significant one, or the most significant one as in the released code",
    )

    level = Level.CONTEXT_SENSITIVE
    input_alphabet = output_alphabet = Alphabet(("0", "1"))
    chance = 0.5
    examples = (("1 0 1 0 0 1", "0 1 1"), ("1 0 0 0 1 0", "0 0 1"), ("1 1 1", "0 1"), ("1", "1"), ("0 1 0 0", "1 0"))

    def draw(self, rng: np.random.Generator, count: int, length: int) -> Pairs:
        bits = draw_positive(rng, np.ones((count, length), bool))
        roots = to_bits([isqrt(number) for number in to_integers(bits)], (length + 1) // 2)
        return Pairs.full(bits, roots) if self.endian == "little" else Pairs.full(bits[:, ::-1], roots[:, ::-1])

    def oracle(self, symbols: Sequence[str]) -> list[str]:
        """Finds the digits of the root, highest first: a digit is 1 if the square does not exceed the number."""
        little_endian = list(symbols) if self.endian == "little" else list(reversed(symbols))
        number = sum(2**place for place, symbol in enumerate(little_endian) if symbol == "1")
        size = (len(symbols) + 1) // 2
        root, digits = 0, []
        for place in reversed(range(size)):
            fits = (root + 2**place) ** 2 <= number
            root += 2**place if fits else 0
            digits.append("1" if fits else "0")
        return digits[::-1] if self.endian == "little" else digits
