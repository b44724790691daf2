"""Sets of whole-numbered points, given by rows, and bounds of forms on them: Fourier-Motzkin elimination.

A row is `(constant, coefficients)` and at least 0 at each point of a set. A form is `(constant, coefficients,
strictness)`: a lower bound with strictness above 0 is never reached, nor an upper bound with strictness below 0.
"""

import math
from fractions import Fraction as F
from typing import Any

INFINITY = math.inf


def combine(*parts: tuple[Any, Any]) -> Any:
    """Returns the sum of multiples of forms, or of rows."""
    if any(form is None for factor, form in parts if factor):
        return None
    return tuple(map(sum, zip(*([factor * x for x in form] for factor, form in parts if form), strict=True)))


def least(rows: list, form: Any) -> Any:
    """Returns a lower bound of the form at the points; infinity if there are none, minus infinity for `None`."""
    if form is None:
        return -INFINITY
    scale = math.lcm(*(F(x).denominator for x in form))
    row = tuple(int(x * scale) for x in form[:-1])
    system = {(*other, 0) for other in rows} | {(*row, -1), (*(-x for x in row), 1)}  # the last variable is the form
    for column in range(1, len(row)):
        pairs = [((-y[column], x), (x[column], y)) for x in system if x[column] > 0 for y in system if y[column] < 0]
        tightest: dict[tuple, int] = {}
        for new in [x for x in system if not x[column]] + [combine(*pair) for pair in pairs]:
            common = math.gcd(*new[1:]) or 1
            direction = tuple(x // common for x in new[1:])
            tightest[direction] = min(tightest.get(direction, new[0] // common), new[0] // common)
        system = {(number, *direction) for direction, number in tightest.items()}
    low = max((F(-x[0], x[-1]) for x in system if x[-1] > 0), default=-INFINITY)
    high = min((F(x[0], -x[-1]) for x in system if x[-1] < 0), default=INFINITY)
    return INFINITY if low > high or any(x[0] < 0 and not x[-1] for x in system) else low / scale


def is_empty(rows: list) -> bool:
    """Returns whether the rows leave no whole-numbered point."""
    return least(rows, (0,) * (len(rows[0]) + 1)) == INFINITY


def holds(rows: list, form: Any, strictly: bool = False) -> bool:
    """Returns whether a lower bound is at least 0 everywhere, or above it."""
    number = least(rows, form)
    return number > 0 or (number == 0 and (not strictly or form[-1] > 0))


def covered(rows: list, cells: list) -> bool:
    """Returns whether each whole-numbered point is in one of the cells."""
    if not cells or is_empty(rows):
        return is_empty(rows)
    inside, rest = cells[0][0], cells[1:]
    outside = [[*inside[:i], (-row[0] - 1, *(-x for x in row[1:]))] for i, row in enumerate(inside)]
    return all(covered(rows + part, rest) for part in ([[]] if is_empty(rows + inside) else outside))
