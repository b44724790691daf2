"""Exact real numbers: a fraction, plus multiples of values of tanh and of products, each known to about 2^-150.

Two such numbers are equal if they are the same sum, and different if their bounds prove it. tanh(-x) is written as
-tanh(x) and the logistic function as (1 + tanh(x / 2)) / 2, so that equal values are written alike.
"""

import math
from fractions import Fraction
from typing import NamedTuple

from humboldt.mdl.proofs.geometry import enclosure
from humboldt.mdl.proofs.geometry.affine import ONE, ZERO

HALF = Fraction(1, 2)
GRAIN = 1 << enclosure.BITS
MOST = 1 << 8192  # repeated squares would take all memory


class Undecided(Exception):
    """A sign is not known, because the bounds of the number include 0; or a number is too long to continue."""


class Real(NamedTuple):
    """`constant` plus a multiple of each of some atoms, in the order of their numbers."""

    constant: Fraction
    terms: tuple[tuple[int, Fraction | int], ...] = ()


NOUGHT = Real(ZERO)


class Reals:
    """Numbers over a common table of atoms."""

    def __init__(self) -> None:
        self._numbers: dict[tuple, int] = {}
        self._bounds: list[tuple[int, int]] = []  # in fixed point, so that fractions do not grow

    def add(self, left: Real, right: Real) -> Real:
        """Returns the sum."""
        if not left.terms and not right.terms:
            return Real(left.constant + right.constant)
        factors = dict(left.terms)
        for atom, factor in right.terms:
            factors[atom] = factors.get(atom, 0) + factor
        terms = tuple(sorted((atom, factor) for atom, factor in factors.items() if factor))
        return Real(left.constant + right.constant, terms)

    def scale(self, number: Real, factor: Fraction | int) -> Real:
        """Returns the multiple."""
        if not factor or factor == 1:
            return number if factor else NOUGHT
        return Real(number.constant * factor, tuple((atom, x * factor) for atom, x in number.terms))

    def multiply(self, left: Real, right: Real) -> Real:
        """Returns the product."""
        if not left.terms:
            return self.scale(right, left.constant)
        if not right.terms:
            return self.scale(left, right.constant)
        pair = sorted((left, right), key=lambda x: (x.constant, x.terms))
        ends = [x * y for x in self.bounds(left) for y in self.bounds(right)]
        return Real(ZERO, ((self._atom(("product", *pair), min(ends), max(ends)), 1),))

    def bounds(self, number: Real) -> tuple[Fraction, Fraction]:
        """Returns fractions below and above; the number equals neither unless it is a fraction itself."""
        if not number.terms:
            return number.constant, number.constant
        low = high = 0  # in fixed point
        for atom, factor in number.terms:
            below, above = self._bounds[atom] if factor > 0 else self._bounds[atom][::-1]
            low += below * factor.numerator // factor.denominator
            high -= -above * factor.numerator // factor.denominator
        return number.constant + Fraction(low, GRAIN), number.constant + Fraction(high, GRAIN)

    def sign(self, number: Real) -> int:
        """Returns -1, 0 or 1; raises `Undecided` if the bounds do not determine it."""
        if not number.terms:
            return (number.constant > 0) - (number.constant < 0)
        low, high = self.bounds(number)  # neither of which the number equals
        if low < 0 < high:
            raise Undecided
        return 1 if low >= 0 else -1

    def activate(self, name: str, number: Real) -> Real:
        """Returns the value of an activation at a number."""
        if name == "linear":
            return number
        if name == "relu":
            return number if self.sign(number) > 0 else NOUGHT
        if name == "step":
            return Real(ONE) if self.sign(number) > 0 else NOUGHT
        if name == "tanh":
            return self._tanh(number)
        if name == "sigmoid":
            return self.add(Real(HALF), self.scale(self._tanh(self.scale(number, HALF)), HALF))
        if name == "square":
            return self.multiply(number, number)
        low, high = self.bounds(number)
        low, high = math.floor(low), math.ceil(high) - 1 if number.terms else math.floor(high)
        if name == "floor":
            return self._certain(low, high)
        divisor = {"modulo_2": 2, "modulo_3": 3}[name]
        times = self._certain(low // divisor, high // divisor)
        return self.add(number, Real(-divisor * times.constant))

    def _certain(self, low: int, high: int) -> Real:
        if low != high:
            raise Undecided
        return Real(Fraction(low))

    def _tanh(self, number: Real) -> Real:
        sign = self.sign(number)
        if not sign:
            return NOUGHT
        positive = self.scale(number, sign)
        low, high = self.bounds(positive)
        atom = self._atom(("tanh", positive), enclosure.tanh(low)[0], enclosure.tanh(high)[1])
        return Real(ZERO, ((atom, sign),))

    def _atom(self, key: tuple, low: Fraction, high: Fraction) -> int:
        if key not in self._numbers:
            self._numbers[key] = len(self._bounds)
            self._bounds.append((math.floor(low * GRAIN), math.ceil(high * GRAIN)))
            if max(abs(low), abs(high)) > MOST:
                raise Undecided
        return self._numbers[key]
