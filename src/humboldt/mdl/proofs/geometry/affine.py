"""Affine forms with rational coefficients.

A form is a tuple `(constant, infinitesimal, coefficient of variable 0, coefficient of variable 1, ...)`. The second
entry makes a bound strict: a lower bound `(1, 1, ...)` means "above 1", an upper bound `(1, -1, ...)` means "below 1".
Sums and multiples of bounds are then right without special cases: the entry is never negative in lower bounds and never
positive in upper bounds.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

Form = tuple[Fraction, ...]
Row = tuple[int, ...]  # (constant, coefficients ...): at least 0 at every point of a polyhedron

ZERO, ONE = Fraction(0), Fraction(1)
HEAD = 2  # entries before the coefficients


def constant(value: Fraction | int, size: int, infinitesimal: int = 0) -> Form:
    """Returns the form with that value everywhere; `size` is the number of variables."""
    return (Fraction(value), Fraction(infinitesimal), *[ZERO] * size)


def variable(index: int, size: int) -> Form:
    """Returns the form that is one variable."""
    return (ZERO, ZERO, *[ONE if i == index else ZERO for i in range(size)])


def add(left: Form, right: Form) -> Form:
    """Returns the sum."""
    return tuple(x + y for x, y in zip(left, right, strict=True))


def scale(form: Form, factor: Fraction | int) -> Form:
    """Returns the multiple."""
    return tuple(factor * x for x in form)


def subtract(left: Form, right: Form) -> Form:
    """Returns the difference."""
    return tuple(x - y for x, y in zip(left, right, strict=True))


def is_constant(form: Form) -> bool:
    """Returns whether no variable occurs."""
    return not any(form[HEAD:])


def substitute(form: Form, images: Sequence[Form]) -> Form:
    """Returns the form with each variable replaced by a form in other variables."""
    result = (form[0], form[1], *[ZERO] * (len(images[0]) - HEAD))
    for coefficient, image in zip(form[HEAD:], images, strict=True):
        if coefficient:
            result = add(result, scale(image, coefficient))
    return result


def to_row(form: Form) -> Row:
    """Returns whole numbers in the same ratio as constant and coefficients, so of the same sign everywhere."""
    entries = (form[0], *form[HEAD:])
    factor = math.lcm(*(x.denominator for x in entries))
    return tighten(tuple(int(x * factor) for x in entries))


def to_form(row: Row) -> Form:
    """Returns a row as a form."""
    return (Fraction(row[0]), ZERO, *map(Fraction, row[1:]))


def tighten(row: Row) -> Row:
    """Returns the strongest row with the same whole-numbered points.

    Its coefficients have no common factor, and its constant is rounded down.

    >>> tighten((-3, 2, 4))
    (-2, 1, 2)
    """
    factor = math.gcd(*row[1:])
    return row if factor < 2 else (row[0] // factor, *(x // factor for x in row[1:]))


def above_zero(form: Form) -> Row:
    """Returns the row that holds at the whole-numbered points where the form is above 0."""
    entries = (form[0], *form[HEAD:])
    factor = math.lcm(*(x.denominator for x in entries))
    whole = [int(x * factor) for x in entries]
    return tighten((whole[0] - 1, *whole[1:]))


def at_most_zero(form: Form) -> Row:
    """Returns the row that holds at the whole-numbered points where the form is at most 0."""
    return to_row(scale(form, -1))
