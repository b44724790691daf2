"""Expressions with digits, `+ - *`, brackets and unary minus: a fast sampler and a slow evaluator."""

from collections.abc import Callable, Sequence

import numpy as np

from humboldt.compiled import compiled
from humboldt.errors import UsageError

MODULUS = 5
DIGITS = ("0", "1", "2", "3", "4")
PLUS, MINUS, OPEN, CLOSE, TIMES = 5, 6, 7, 8, 9  # ids; a digit's id is the digit

OPERATOR, END = 0, -1  # entries of a plan other than lengths: an operator, a closing bracket


def draw(
    rng: np.random.Generator, count: int, length: int, operators: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Returns random expressions, shape `(count, length)`, and their values modulo 5, shape `(count,)`.

    Expressions with at most four symbols are `d`, `-d`, `(d)` or `(-d)`; longer ones are `(l o r)`, where `o` is any of
    the `operators`, and the length is divided between `l` and `r` in one of all possible ways, equally likely.
    """
    # One random number for each place, used or not. Drawn by NumPy, so that they do not depend on the compiler.
    chances = rng.random((count, length))
    expressions = np.empty((count, length), np.int32)
    values = np.empty(count, np.int32)
    _fill(chances, np.array(operators, np.int32), expressions, values)
    return expressions, values


@compiled
def _fill(chances: np.ndarray, operators: np.ndarray, expressions: np.ndarray, values: np.ndarray) -> None:
    """Writes each expression from left to right into `expressions`, and its value into `values`.

    `plan` is a stack of what is still to be written: a positive number is an expression of that length.
    """
    count, length = chances.shape
    plan = np.empty(length + 4, np.int32)
    operands = np.empty(length + 1, np.int32)
    pending = np.empty(length + 1, np.int32)
    for row in range(count):
        place = planned = num_operands = num_pending = 0
        plan[0] = length
        planned = 1
        while planned:
            planned -= 1
            item = plan[planned]
            if item == OPERATOR:
                operator = operators[int(chances[row, place] * len(operators))]
                expressions[row, place] = operator
                place += 1
                pending[num_pending] = operator
                num_pending += 1
            elif item == END:
                expressions[row, place] = CLOSE
                place += 1
                num_pending -= 1
                num_operands -= 1
                left, right = operands[num_operands - 1], operands[num_operands]
                if pending[num_pending] == PLUS:
                    operands[num_operands - 1] = (left + right) % MODULUS
                elif pending[num_pending] == MINUS:
                    operands[num_operands - 1] = (left - right + MODULUS) % MODULUS
                else:
                    operands[num_operands - 1] = (left * right) % MODULUS
            elif item > 4:
                size = 1 + int(chances[row, place] * (item - 4))
                expressions[row, place] = OPEN
                place += 1
                plan[planned] = END
                plan[planned + 1] = item - 3 - size
                plan[planned + 2] = OPERATOR
                plan[planned + 3] = size
                planned += 4
            else:
                if item > 2:
                    expressions[row, place] = OPEN
                    place += 1
                if item % 2 == 0:
                    expressions[row, place] = MINUS
                    place += 1
                digit = int(chances[row, place] * MODULUS)
                expressions[row, place] = digit
                place += 1
                operands[num_operands] = digit if item % 2 else (MODULUS - digit) % MODULUS
                num_operands += 1
                if item > 2:
                    expressions[row, place] = CLOSE
                    place += 1
        values[row] = operands[0]


def products_first(numbers: list[int], operators: list[str]) -> int:
    """Returns the value of numbers with operators between them: `*` binds tighter than `+` and `-`."""
    terms = numbers[:1]
    for operator, number in zip(operators, numbers[1:], strict=True):
        if operator == "*":
            terms[-1] *= number
        else:
            terms.append(number if operator == "+" else -number)
    return sum(terms)


def evaluate(symbols: Sequence[str], flat: Callable[[list[int], list[str]], int] = products_first) -> int:
    """Returns the value of any expression, not reduced: innermost brackets first, each by `flat`.

    It accepts more than `draw` draws: the usual notation of arithmetic, with unary minus before a digit or a bracket.
    """
    numbers: list[list[int]] = [[]]  # one list per open bracket, outermost first
    operators: list[list[str]] = [[]]
    signs = [1]
    number_comes_next = True
    for position, symbol in enumerate(symbols):
        if number_comes_next and symbol == "-":
            signs[-1] = -signs[-1]
        elif number_comes_next and symbol == "(":
            numbers.append([])
            operators.append([])
            signs.append(1)
        elif number_comes_next and symbol in DIGITS:
            numbers[-1].append(signs[-1] * int(symbol))
            signs[-1] = 1
            number_comes_next = False
        elif not number_comes_next and symbol in ("+", "-", "*"):
            operators[-1].append(symbol)
            number_comes_next = True
        elif not number_comes_next and symbol == ")" and len(numbers) > 1:
            value = flat(numbers.pop(), operators.pop())
            signs.pop()
            numbers[-1].append(signs[-1] * value)
            signs[-1] = 1
        else:
            raise UsageError(
                f"{' '.join(symbols)!r} is not an expression: {symbol!r} at position {position} comes where "
                f"{'a digit, a bracket or a minus' if number_comes_next else 'an operator or the end'} must be."
            )
    if number_comes_next or len(numbers) > 1:
        missing = "a number" if number_comes_next else "a closing bracket"
        raise UsageError(f"{' '.join(symbols)!r} is not an expression: at its end {missing} is missing.")
    return flat(numbers[0], operators[0])
