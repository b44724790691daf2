"""Modular Arithmetic (Simple) (regular)."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages import Alphabet, Pairs, tasks
from humboldt.languages.chomsky.base import AbstractTransduction, Level
from humboldt.settings import setting, settings

MODULUS = 5
DIGITS = ("0", "1", "2", "3", "4")
PLUS, MINUS, TIMES = 5, 6, 7  # ids of the operators


@tasks.register("chomsky/modular_arithmetic_simple", version=1)
@settings
class ModularArithmeticSimple(AbstractTransduction):
    """The value modulo 5 of digits joined by `+ - *`, without brackets.   1+2-4 -> 4

    `*` binds tighter than `+` and `-`: 1+2*3 is 2. An expression has an odd number of symbols.

    **Arguments:**

    - `even_length`: `"lengthen"` turns an even length into the next odd one, as in the paper; `"shorten"` into the
      previous one, as in its released code.
    """

    even_length: Literal["lengthen", "shorten"] = setting(
        "lengthen",
        "replacement of an even length, at which there is no expression; the released code shortens it",
    )

    level = Level.REGULAR
    input_alphabet = Alphabet((*DIGITS, "+", "-", "*"))
    output_alphabet = Alphabet(DIGITS)
    chance = 0.2
    examples = (("1 + 2 - 4", "4"), ("1 + 2 * 3", "2"), ("2 - 4 * 4 * 2", "0"), ("3", "3"))

    def length_of(self, length: int) -> int:
        terms = length // 2 + 1 if self.even_length == "lengthen" else (length + 1) // 2
        return 2 * terms - 1

    def draw(self, rng: np.random.Generator, count: int, length: int) -> Pairs:
        terms = (self.length_of(length) + 1) // 2
        expressions = np.empty((count, 2 * terms - 1), np.int32)
        expressions[:, ::2] = rng.integers(0, MODULUS, (count, terms))
        expressions[:, 1::2] = rng.integers(PLUS, TIMES + 1, (count, terms - 1))
        return Pairs.full(expressions, evaluate(expressions)[:, None])

    def oracle(self, symbols: Sequence[str]) -> list[str]:
        """Evaluates the expression with Python, which has the same precedence."""
        kinds = [symbol in DIGITS for symbol in symbols]
        if kinds != [True, False] * (len(symbols) // 2) + [True]:
            raise UsageError(
                f"{' '.join(symbols)!r} is not digits with one operator between any two. Write it like '1 + 2 - 4'."
            )
        return [str(eval("".join(symbols)) % MODULUS)]


def evaluate(expressions: np.ndarray) -> np.ndarray:
    """Returns values modulo 5, shape `(count,)`, in one pass that holds a sum and the current product."""
    total = np.zeros(len(expressions), np.int64)
    product = expressions[:, 0].astype(np.int64)
    for operator, digit in zip(expressions[:, 1::2].T, expressions[:, 2::2].T, strict=True):
        times = operator == TIMES
        total = np.where(times, total, total + product)
        product = np.where(times, product * digit, np.where(operator == MINUS, -digit, digit)) % MODULUS
    return (total + product) % MODULUS
