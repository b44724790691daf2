"""Modular Arithmetic (deterministic context-free)."""

from collections.abc import Sequence

import numpy as np

from humboldt.languages import Alphabet, Pairs, tasks
from humboldt.languages.chomsky.base import AbstractTransduction, Level
from humboldt.languages.chomsky.parts.expressions import DIGITS, MINUS, MODULUS, PLUS, TIMES, draw, evaluate


@tasks.register("chomsky/modular_arithmetic", version=1)
class ModularArithmetic(AbstractTransduction):
    """The value modulo 5 of an expression with brackets.   -(1-2)*(4-3*(-2)) -> 0

    The paper allows every length and does not specify how expressions are drawn; as in its released code, every
    operator has its own brackets. Up to length 4 an expression is `d`, `-d`, `(d)` or `(-d)` with a random digit;
    a longer one is `(l o r)`: `o` is `+`, `-` or `*`, and all divisions of the length between `l` and `r` are equally
    likely. The oracle also accepts expressions that are never drawn, such as the paper's example, with the
    usual precedence.

    Products make 0 the most frequent answer: 25% at length 5, 29% at 40, 32% at 500; the others share the rest equally.
    So always answering 0 beats the nominal chance of 20%.
    """

    level = Level.DETERMINISTIC_CONTEXT_FREE
    input_alphabet = Alphabet((*DIGITS, "+", "-", "(", ")", "*"))
    output_alphabet = Alphabet(DIGITS)
    chance = 0.2
    examples = (
        ("- ( 1 - 2 ) * ( 4 - 3 * ( - 2 ) )", "0"),
        ("( 1 + ( 2 * 3 ) )", "2"),
        ("( 1 - - 3 )", "4"),
        ("1 + 2 * 3", "2"),
        ("2 * 3 + 1", "2"),
        ("4 - 2 - 1", "1"),
        ("( - 2 )", "3"),
        ("( 3 )", "3"),
        ("- 1", "4"),
        ("4", "4"),
    )

    def draw(self, rng: np.random.Generator, count: int, length: int) -> Pairs:
        expressions, values = draw(rng, count, length, (PLUS, MINUS, TIMES))
        return Pairs.full(expressions, values[:, None])

    def oracle(self, symbols: Sequence[str]) -> list[str]:
        """Evaluates innermost brackets first, and reduces modulo 5 only at the end."""
        return [str(evaluate(symbols) % MODULUS)]
