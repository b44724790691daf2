"""Elimination agrees with the prover's vertices and rays, and with counting points."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from humboldt.mdl.proofs.checker.elimination import INFINITY, combine, covered, holds, is_empty, least
from humboldt.mdl.proofs.geometry.affine import tighten
from humboldt.mdl.proofs.geometry.polyhedron import Polyhedron

POSITIVE = [(0, 1, 0), (0, 0, 1)]


@pytest.mark.parametrize("seed", range(40))
def test_the_least_value_is_that_of_vertices_and_below_that_of_points(seed: int):
    rng = np.random.default_rng(seed)
    rows = [tighten(tuple(rng.integers(-4, 5, 3).tolist())) for _ in range(4)]
    form = (Fraction(int(rng.integers(-5, 6)), 2), *map(Fraction, rng.integers(-3, 4, 2).tolist()))
    ours = least(POSITIVE + rows, (*form, Fraction(0)))
    theirs = Polyhedron(2, rows).least((form[0], Fraction(0), *form[1:]))
    points = [p for p in product(range(25), repeat=2) if all(r[0] + r[1] * p[0] + r[2] * p[1] >= 0 for r in rows)]
    values = [form[0] + form[1] * x + form[2] * y for x, y in points]
    assert theirs <= ours <= min(values, default=INFINITY)
    # Elimination may know of whole numbers what vertices do not.
    if Polyhedron(2, rows).is_empty:
        assert is_empty(POSITIVE + rows)


def test_strict_bounds_and_missing_ones():
    rows = [(0, 1), (3, -1)]
    assert holds(rows, (0, 1, 0))
    assert not holds(rows, (0, 1, 0), strictly=True)
    assert holds(rows, (0, 1, 1), strictly=True)
    assert not holds(rows, None)
    assert combine((1, None), (1, (1, 2))) is None
    assert combine((0, None), (2, (1, 2))) == (2, 4)


def test_a_cover_misses_no_point():
    triangle = [(-1, 1, 0), (-1, 0, 1), (0, 1, -1)]  # 1 <= k <= n
    diagonal, inside = [(0, 1, -1), (0, -1, 1)], [(-1, 1, -1)]
    assert covered(triangle, [(diagonal, {}), (inside, {})])
    assert not covered(triangle, [(inside, {})])
    assert not covered(triangle, [(diagonal, {}), ([(-2, 1, -1)], {})])
