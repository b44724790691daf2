"""Solve Equation (deterministic context-free)."""

from collections.abc import Sequence

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages import Alphabet, Pairs, tasks
from humboldt.languages.chomsky.base import AbstractTransduction, Level
from humboldt.languages.chomsky.parts.expressions import DIGITS, MINUS, MODULUS, PLUS, draw, evaluate

UNKNOWN, EQUALS = 9, 10  # ids of `z` and `=`


@tasks.register("chomsky/solve_equation", version=1)
class SolveEquation(AbstractTransduction):
    """The `z` that solves an equation modulo 5.   (z-(-2))=1 -> 4

    The left side is drawn as in Modular Arithmetic, but without `*`: a product with 0 would let every `z` solve it.
    (The paper mentions products; its released code has none.) Then one digit becomes `z`: the first at or after a
    random place, with wrap-around, as in the released code; so a digit after a long run of brackets is hidden more
    often than its neighbours. The five solutions are equally likely.
    """

    level = Level.DETERMINISTIC_CONTEXT_FREE
    shortest = 3
    input_alphabet = Alphabet((*DIGITS, "+", "-", "(", ")", "z", "="))
    output_alphabet = Alphabet(DIGITS)
    chance = 0.2
    examples = (("( z - ( - 2 ) ) = 1", "4"), ("( 3 - ( 1 + z ) ) = 4", "3"), ("( - z ) = 2", "3"), ("z = 2", "2"))

    def draw(self, rng: np.random.Generator, count: int, length: int) -> Pairs:
        size = length - 2
        left, right = draw(rng, count, size, (PLUS, MINUS))
        distance = (np.arange(size) - rng.integers(0, size, (count, 1))) % size
        hidden = np.where(left < MODULUS, distance, size).argmin(1)
        solutions = left[np.arange(count), hidden]
        left[np.arange(count), hidden] = UNKNOWN
        equations = np.hstack((left, np.full((count, 1), EQUALS), right[:, None]))
        return Pairs.full(equations, solutions[:, None])

    def oracle(self, symbols: Sequence[str]) -> list[str]:
        """Tries all five values."""
        left, equals, right = symbols[:-2], "".join(symbols[-2:-1]), "".join(symbols[-1:])
        if left.count("z") != 1 or equals != "=" or right not in DIGITS or "*" in left:
            raise UsageError(
                f"{' '.join(symbols)!r} is not an equation with one unknown: an expression of digits, '+', '-' and "
                "brackets, with one 'z' and no product, then '=' and a digit. Write it like '( z - 2 ) = 1'."
            )
        place = left.index("z")
        return [z for z in DIGITS if evaluate([*left[:place], z, *left[place + 1 :]]) % MODULUS == int(right)]
