"""Modular arithmetic without brackets (regular)."""

from collections.abc import Sequence

from humboldt.languages import Alphabet, tasks
from humboldt.languages.recognition.base import AbstractRegular

DIGITS = "01234"


def _applied(left: int, operator: str, right: int) -> int:
    return {"+": left + right, "-": left - right, "*": left * right}[operator] % 5


def _written() -> str:
    lines = ["start s", "accept end", *(f"s {digit} v{digit}" for digit in DIGITS)]
    for value in DIGITS:
        for operator in "+-*":
            state = f"v{value}_{['plus', 'minus', 'times']['+-*'.index(operator)]}"
            lines.append(f'v{value} "{operator}" {state}')
            lines += [f"{state} {digit} v{_applied(int(value), operator, int(digit))}" for digit in DIGITS]
        lines += [f'v{value} "=" r{value}', f"r{value} {value} end"]
    return "\n".join(lines)


@tasks.register("recognition/modular_arithmetic_simple", version=1)
class ModularArithmeticSimple(AbstractRegular):
    """An expression modulo 5, computed from left to right, and its value.   1 + 2 * 4 = 2 -> yes"""

    input_alphabet = Alphabet(("*", "+", "-", *DIGITS, "="))
    examples = (("1 + 2 * 4 = 2", "yes"), ("0 - 1 = 4", "yes"), ("3 = 3", "yes"), ("3 + = 3", "no"), ("3 = 2", "no"))
    automaton_text = _written()

    def contains(self, symbols: Sequence[str]) -> bool:
        """Computes from left to right."""
        if len(symbols) < 3 or len(symbols) % 2 == 0 or symbols[-2] != "=":
            return False
        digits, operators = symbols[::2], symbols[1:-2:2]
        if any(digit not in DIGITS for digit in digits) or any(sign not in ("+", "-", "*") for sign in operators):
            return False
        value = int(digits[0])
        for operator, digit in zip(operators, digits[1:-1], strict=True):
            value = _applied(value, operator, int(digit))
        return value == int(digits[-1])
