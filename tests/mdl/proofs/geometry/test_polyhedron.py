"""Vertices and rays."""

from fractions import Fraction

from humboldt.mdl.proofs.geometry.affine import above_zero, at_most_zero, to_form
from humboldt.mdl.proofs.geometry.polyhedron import INFINITY, Polyhedron

TRIANGLE = Polyhedron(2, [(-1, 1, 0), (-1, 0, 1), (0, 1, -1)])  # 1 <= k <= n


def test_the_triangle_has_one_vertex_and_two_rays():
    assert set(TRIANGLE.generators) == {(1, 1, 1), (0, 1, 0), (0, 1, 1)}
    assert TRIANGLE.least(to_form((0, 1, -1))) == 0
    assert TRIANGLE.least(to_form((0, -1, 0))) == -INFINITY
    assert TRIANGLE.least(to_form((5, 0, 0))) == 5


def test_cutting_goes_on_from_what_is_known():
    part = TRIANGLE.cut((5, -1, 0))  # n <= 5
    assert set(part.generators) == set(Polyhedron(2, part.rows).generators)
    assert part.least(to_form((0, -1, 0))) == -5
    empty = part.cut((-6, 1, 0))
    assert empty.is_empty
    assert empty.least(to_form((0, 1, 0))) == INFINITY


def test_a_switch_leaves_no_whole_number_out_and_takes_none_twice():
    form = (Fraction(1, 3), Fraction(0), Fraction(1, 2), Fraction(-1))
    above, below = to_form(above_zero(form)), to_form(at_most_zero(form))
    for n in range(8):
        for k in range(8):
            value = form[0] + form[2] * n + form[3] * k
            assert (above[0] + above[2] * n + above[3] * k >= 0) == (value > 0)
            assert (below[0] + below[2] * n + below[3] * k >= 0) == (value <= 0)
