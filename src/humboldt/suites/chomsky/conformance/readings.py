"""Alternative definitions of tasks that other implementations may use, for the conformance kit."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt

from humboldt.languages.chomsky.parts.binary import split
from humboldt.languages.chomsky.parts.expressions import DIGITS, MODULUS, evaluate

Symbols = list[str]


@dataclass(frozen=True)
class Reading:
    """An alternative definition: maps an input to its target. `says` completes "Looks as if ..."."""

    says: str
    target: Callable[[Symbols], Symbols]


# Regular tasks


def _even(condition: bool) -> Symbols:
    return ["b" if condition else "a"]


def _count(symbols: Symbols, *pairs: str) -> int:
    return sum(first + second in pairs for first, second in pairwise(symbols))


def _position(symbols: Symbols, start: int, up: str, down: str) -> Symbols:
    return [str((start + symbols.count(up) - symbols.count(down)) % MODULUS)]


# Expressions


def _left_to_right(numbers: list[int], operators: list[str]) -> int:
    value = numbers[0]
    for operator, number in zip(operators, numbers[1:], strict=True):
        value = {"+": value + number, "-": value - number, "*": value * number}[operator]
    return value


def _right_to_left(numbers: list[int], operators: list[str]) -> int:
    value = numbers[-1]
    for operator, number in zip(reversed(operators), reversed(numbers[:-1]), strict=True):
        value = {"+": number + value, "-": number - value, "*": number * value}[operator]
    return value


def _sums_first(numbers: list[int], operators: list[str]) -> int:
    factors = numbers[:1]
    for operator, number in zip(operators, numbers[1:], strict=True):
        if operator == "*":
            factors.append(number)
        else:
            factors[-1] += number if operator == "+" else -number
    value = 1
    for factor in factors:
        value *= factor
    return value


def _by(flat: Callable[[list[int], list[str]], int]) -> Callable[[Symbols], Symbols]:
    return lambda symbols: [str(evaluate(symbols, flat) % MODULUS)]


def _without_brackets(symbols: Symbols) -> Symbols:
    return [symbol for symbol in symbols if symbol not in "()"]


def _without_unary_minus(symbols: Symbols) -> Symbols:
    before = ["(", *symbols]
    return [
        symbol
        for previous, symbol in zip(before, symbols, strict=False)
        if not (symbol == "-" and previous in ("(", "+", "-", "*"))
    ]


def _solutions(left: Symbols, right: int) -> Symbols:
    place = left.index("z")
    return [z for z in DIGITS if evaluate([*left[:place], z, *left[place + 1 :]]) % MODULUS == right]


# Binary numbers: most significant digit first is "big", as text


def _big(symbols: Symbols) -> int:
    return int("".join(symbols), 2)


def _arithmetic(
    operator: str, operation: Callable[[int, int], int], *, big_input: bool, big_output: bool
) -> Callable[[Symbols], Symbols]:
    def target(symbols: Symbols) -> Symbols:
        numbers = ([str(digit) for digit in digits] for digits in split(symbols, operator))
        first, second = (_big(digits if big_input else digits[::-1]) for digits in numbers)
        digits = list(f"{operation(first, second):b}")
        return [*(digits if big_output else digits[::-1]), "#"]

    return target


def _root(round_: Callable[[int], int]) -> Callable[[Symbols], Symbols]:
    return lambda symbols: list(f"{round_(_big(symbols[::-1])):b}"[::-1].ljust((len(symbols) + 1) // 2, "0"))


def _nearest_root(number: int) -> int:
    floor = isqrt(number)
    return floor + (number - floor**2 > floor)  # (floor + 1/2)^2 is floor^2 + floor + 1/4


def _carryless_product(first: int, second: int) -> int:
    product = 0
    for place in range(second.bit_length()):
        if second >> place & 1:
            product ^= first << place
    return product


def _readings_of_arithmetic(operator: str, operation: Callable[[int, int], int], carryless: Callable[[int, int], int]):
    return (
        Reading(
            "numbers are written most significant digit first, in input and target",
            _arithmetic(operator, operation, big_input=True, big_output=True),
        ),
        Reading(
            "the result alone is written most significant digit first",
            _arithmetic(operator, operation, big_input=False, big_output=True),
        ),
        Reading(
            "the input alone is read most significant digit first",
            _arithmetic(operator, operation, big_input=True, big_output=False),
        ),
        Reading("carries are dropped", _arithmetic(operator, carryless, big_input=False, big_output=False)),
    )


# Stacks


def _stack(symbols: Symbols, *, top_given_first: bool = False, debts: bool = False) -> Symbols:
    """Returns the final stack, bottom first. With `debts` a POP on an empty stack cancels the next PUSH."""
    stack = [symbol for symbol in symbols if symbol in ("a", "b")]
    if top_given_first:
        stack.reverse()
    debt = 0
    for action in symbols[len(stack) :]:
        if action == "POP":
            if stack:
                stack.pop()
            else:
                debt += debts
        elif debt:
            debt -= 1
        else:
            stack.append(action[-1])
    return stack


# Strings

SWAPPED = {"a": "b", "b": "a", "0": "1", "1": "0"}


def _from_the_other_end(symbols: Symbols) -> Symbols:
    """Returns the answer if Missing Duplicate is taken for a palindrome: the symbol that mirrors the hidden one."""
    string = [symbol for symbol in symbols if symbol != "#"]
    return [string[len(string) - 1 - string.index("_")]]


READINGS: dict[str, tuple[Reading, ...]] = {
    "even_pairs": (
        Reading("the labels are swapped: 'a' for even, 'b' for odd", lambda s: _even(_count(s, "ab", "ba") % 2 == 1)),
        Reading("only the pairs 'ab' are counted", lambda s: _even(_count(s, "ab") % 2 == 0)),
        Reading("only the pairs 'ba' are counted", lambda s: _even(_count(s, "ba") % 2 == 0)),
        Reading("the pairs 'aa' and 'bb' are counted", lambda s: _even(_count(s, "aa", "bb") % 2 == 0)),
    ),
    "parity_check": (
        Reading("the labels are swapped: 'a' for even, 'b' for odd", lambda s: _even(s.count("b") % 2 == 1)),
        Reading("'a's are counted instead of 'b's", lambda s: _even(s.count("a") % 2 == 0)),
        Reading("'a's are counted, and the labels are swapped", lambda s: _even(s.count("a") % 2 == 1)),
    ),
    "modular_arithmetic_simple": (
        Reading("operator precedence differs: operators are applied from left to right", _by(_left_to_right)),
        Reading("operator precedence differs: operators are applied from right to left", _by(_right_to_left)),
        Reading("operator precedence differs: '+' and '-' come before '*'", _by(_sums_first)),
    ),
    "cycle_navigation": (
        Reading("the directions are swapped: '1' goes down, '2' goes up", lambda s: _position(s, 0, "2", "1")),
        Reading("the walk starts at position 1", lambda s: _position(s, 1, "1", "2")),
        Reading("'0' goes down, '1' stays, '2' goes up", lambda s: _position(s, 0, "2", "0")),
        Reading("'0' goes up, '1' stays, '2' goes down", lambda s: _position(s, 0, "0", "2")),
    ),
    "stack_manipulation": (
        Reading("the final stack is written bottom to top", lambda s: [*_stack(s), "#"]),
        Reading("the given stack is read top to bottom", lambda s: [*_stack(s, top_given_first=True)[::-1], "#"]),
        Reading("POP on an empty stack cancels the next PUSH", lambda s: [*_stack(s, debts=True)[::-1], "#"]),
    ),
    "reverse_string": (Reading("the string is copied, not reversed", list),),
    "modular_arithmetic": (
        Reading("operator precedence differs: operators are applied from left to right", _by(_left_to_right)),
        Reading("operator precedence differs: operators are applied from right to left", _by(_right_to_left)),
        Reading("operator precedence differs: '+' and '-' come before '*'", _by(_sums_first)),
        Reading("brackets are ignored", lambda s: [str(evaluate(_without_brackets(s)) % MODULUS)]),
        Reading("unary minus is ignored", lambda s: [str(evaluate(_without_unary_minus(s)) % MODULUS)]),
    ),
    "solve_equation": (
        Reading("brackets are ignored", lambda s: _solutions(_without_brackets(s[:-2]), int(s[-1]))),
        Reading("unary minus is ignored", lambda s: _solutions(_without_unary_minus(s[:-2]), int(s[-1]))),
        Reading("the answer has the wrong sign", lambda s: [str(-int(_solutions(s[:-2], int(s[-1]))[0]) % MODULUS)]),
        Reading("the right side of the equation is given", lambda s: [s[-1]]),
    ),
    "duplicate_string": (
        Reading("the string is written once", list),
        Reading("the second copy is reversed", lambda s: [*s, *s[::-1]]),
        Reading("every symbol is doubled where it stands", lambda s: [symbol for symbol in s for _ in range(2)]),
    ),
    "missing_duplicate": (
        Reading("the other symbol is given", lambda s: [SWAPPED[s[(s.index("_") + len(s) // 2) % (len(s) // 2 * 2)]]]),
        Reading("the input is taken for a palindrome", _from_the_other_end),
    ),
    "odds_first": (
        Reading("even places come first, as in the paper's released code", lambda s: [*s[1::2], *s[::2]]),
        Reading("the even places are written backwards", lambda s: [*s[::2], *s[1::2][::-1]]),
        Reading("only the odd places are written", lambda s: s[::2]),
    ),
    "binary_addition": _readings_of_arithmetic("+", int.__add__, int.__xor__),
    "binary_multiplication": _readings_of_arithmetic("*", int.__mul__, _carryless_product),
    "compute_sqrt": (
        Reading(
            "numbers are written most significant digit first, as in the paper's released code",
            lambda s: _root(isqrt)(s[::-1])[::-1],
        ),
        Reading("the root alone is written most significant digit first", lambda s: _root(isqrt)(s)[::-1]),
        Reading("the input alone is read most significant digit first", lambda s: _root(isqrt)(s[::-1])),
        Reading("the root is rounded to the nearest integer", _root(_nearest_root)),
        Reading("the root is rounded up", _root(lambda number: isqrt(max(number - 1, 0)) + (number > 0))),
    ),
    "bucket_sort": (
        Reading("the order is descending", lambda s: sorted(s, reverse=True)),
        Reading("rarer symbols come first", lambda s: sorted(s, key=lambda symbol: (Counter(s)[symbol], symbol))),
        Reading("every symbol is written once", lambda s: sorted(set(s))),
    ),
}
