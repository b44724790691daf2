"""Polyhedra of whole-numbered points, by their vertices and rays.

A form that is at least 0 on all vertices and does not decrease along any ray is at least 0 on the whole polyhedron, and
its least value is that of a vertex. So every test of the prover takes a handful of multiplications.
"""

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property

from humboldt.mdl.proofs.geometry.affine import HEAD, Form, Row, tighten

INFINITY = math.inf
Generator = tuple[int, ...]  # (weight, direction): a vertex is direction / weight, a ray has weight 0


class Polyhedron:
    """The points with non-negative coordinates at which every row is at least 0."""

    def __init__(self, size: int, rows: Iterable[Row] = ()) -> None:
        self.size = size
        self.rows: tuple[Row, ...] = tuple(dict.fromkeys(tighten(row) for row in rows))

    def cut(self, *rows: Row) -> "Polyhedron":
        """Returns the part where these rows hold, too."""
        new = [row for row in map(tighten, rows) if row not in self.rows]
        if not new:
            return self
        part = Polyhedron(self.size, (*self.rows, *new))
        if "generators" in self.__dict__:  # extend those that are already computed
            part.__dict__["generators"] = _extend(self.generators, self.rows, new, self.size)
        return part

    @cached_property
    def generators(self) -> tuple[Generator, ...]:
        """Vertices and rays."""
        units = tuple(tuple(int(i == j) for j in range(self.size + 1)) for i in range(self.size + 1))
        return _extend(units, (), self.rows, self.size)

    @property
    def is_empty(self) -> bool:
        """Whether there is no point, whole-numbered or not."""
        return all(generator[0] == 0 for generator in self.generators)

    def least(self, form: Form) -> Fraction | float:
        """Returns the least value of a form, infinitesimals aside: minus infinity if unbounded, infinity if empty."""
        lowest: Fraction | float = INFINITY
        falls = False
        for weight, *direction in self.generators:
            value = form[0] * weight
            for coefficient, entry in zip(form[HEAD:], direction, strict=True):
                if entry and coefficient:
                    value += coefficient * entry
            if weight:
                lowest = min(lowest, value / weight)
            elif value < 0:
                falls = True
        return -INFINITY if falls and lowest != INFINITY else lowest

    def is_positive(self, form: Form) -> bool:
        """Returns whether a lower bound is above 0 everywhere."""
        least = self.least(form)
        return least > 0 or (least == 0 and form[1] > 0)

    def is_non_negative(self, form: Form) -> bool:
        """Returns whether a lower bound is at least 0 everywhere."""
        return self.least(form) >= 0


def _value(row: Row, generator: Generator) -> int:
    return sum(x * y for x, y in zip(row, generator, strict=True))


def _extend(
    generators: tuple[Generator, ...], rows: tuple[Row, ...], new: Iterable[Row], size: int
) -> tuple[Generator, ...]:
    """Returns the generators after more rows, by the double description method.

    For two generators on either side of a new row, the point between them is added if they are neighbours, that is if
    no third generator lies on all the faces that both lie on.
    """
    faces = [*[tuple(int(i == j) for j in range(size + 1)) for i in range(size + 1)], *rows]
    current = list(generators)
    for row in new:
        values = [_value(row, generator) for generator in current]
        if min(values, default=0) < 0:
            on = [frozenset(i for i, face in enumerate(faces) if _value(face, g) == 0) for g in current]
            kept = [g for g, value in zip(current, values, strict=True) if value >= 0]
            for i, above in enumerate(values):
                for j, below in enumerate(values):
                    if above > 0 > below:
                        common = on[i] & on[j]
                        if not any(common <= on[m] for m in range(len(current)) if m not in (i, j)):
                            pair = zip(current[i], current[j], strict=True)
                            kept.append(_primitive(tuple(above * y - below * x for x, y in pair)))
            current = list(dict.fromkeys(kept))
        faces.append(row)
    return tuple(current)


def _primitive(generator: Generator) -> Generator:
    factor = math.gcd(*generator)
    return generator if factor < 2 else tuple(x // factor for x in generator)
