"""Numbers that are equal are known to be, and those that are not are told apart."""

import math
from fractions import Fraction

import pytest

from humboldt.mdl.proofs.geometry import enclosure
from humboldt.mdl.proofs.geometry.reals import NOUGHT, Real, Reals, Undecided


@pytest.mark.parametrize(
    "x", [Fraction(0), Fraction(1, 3), Fraction(-5, 2), Fraction(18), Fraction(-49), Fraction(300)]
)
def test_bounds_of_tanh_and_sigmoid_hold_the_value_closely(x: Fraction):
    for bounds, value in ((enclosure.tanh(x), math.tanh(x)), (enclosure.sigmoid(x), 1 / (1 + math.exp(-x)))):
        low, high = bounds
        assert float(low) <= value * (1 + 1e-15) + 1e-300 or float(low) <= value + 2e-16
        assert float(high) >= value - 2e-16
        assert high - low < Fraction(1, 2**60)
        assert (low == high) == (x == 0)


def test_bounds_are_on_either_side_of_the_series():
    # tanh(1) to 40 digits, from its continued fraction 1 / (1 + 1 / (3 + 1 / (5 + ...
    exact = Fraction(0)
    for odd in range(61, 0, -2):
        exact = 1 / (odd + exact)
    low, high = enclosure.tanh(Fraction(1))
    assert low < exact < high


def test_ties_are_ties():
    reals = Reals()
    third = reals.activate("tanh", Real(Fraction(1, 3)))
    assert reals.sign(reals.add(third, reals.activate("tanh", Real(Fraction(-1, 3))))) == 0
    half = reals.activate("sigmoid", Real(Fraction(2, 3)))  # (1 + tanh(1/3)) / 2
    doubled = reals.add(reals.scale(half, 2), Real(Fraction(-1)))
    assert reals.sign(reals.add(doubled, reals.scale(third, -1))) == 0
    assert reals.activate("sigmoid", NOUGHT) == Real(Fraction(1, 2))


def test_what_is_near_a_bound_does_not_reach_it():
    reals = Reals()
    saturated = reals.activate("tanh", Real(Fraction(10**6)))
    assert reals.sign(reals.add(Real(Fraction(1)), reals.scale(saturated, -1))) == 1
    assert reals.activate("floor", reals.scale(saturated, 10)) == Real(Fraction(9))
    assert reals.activate("modulo_3", reals.scale(saturated, 3)).constant == 0
    other = reals.activate("tanh", Real(Fraction(10**6 + 1)))
    with pytest.raises(Undecided):
        reals.sign(reals.add(saturated, reals.scale(other, -1)))


def test_numbers_do_not_grow_without_end():
    reals, number = Reals(), Real(Fraction(3))
    root = reals.activate("tanh", Real(Fraction(1)))
    number = reals.add(reals.scale(root, 10), number)
    with pytest.raises(Undecided):
        for _ in range(40):
            number = reals.activate("square", number)
