"""Rational bounds of tanh and of the logistic function at rational points."""

from fractions import Fraction

from humboldt.mdl.proofs.geometry.affine import ONE, ZERO

BITS = 160  # of the fixed-point numbers; the bounds are about 2^-150 apart
FAR = 50  # from here on the logistic function is 1 to within 2^-72
_SCALE = 1 << BITS


def sigmoid(x: Fraction) -> tuple[Fraction, Fraction]:
    """Returns numbers below and above 1 / (1 + exp(-x)), equal only at 0.

    >>> [float(bound) for bound in sigmoid(Fraction(1))]
    [0.7310585786300049, 0.7310585786300049]
    """
    if x == 0:
        return Fraction(1, 2), Fraction(1, 2)
    if x < 0:
        low, high = sigmoid(-x)
        return ONE - high, ONE - low
    if x > FAR:
        return sigmoid(Fraction(FAR))[0], ONE
    low, high = _exponential(x)  # of -x
    return Fraction(_SCALE, _SCALE + high), Fraction(_SCALE, _SCALE + low)


def tanh(x: Fraction) -> tuple[Fraction, Fraction]:
    """Returns numbers below and above tanh(x), equal only at 0: tanh(x) = 2 sigmoid(2x) - 1."""
    if x == 0:
        return ZERO, ZERO
    low, high = sigmoid(2 * x)
    return 2 * low - 1, 2 * high - 1


def _exponential(x: Fraction) -> tuple[int, int]:
    """Returns multiples of 1 / _SCALE below and above exp(-x), for 0 < x <= FAR.

    exp(-x) = exp(-x / 2^h)^(2^h), and for 0 <= r <= 1/2 the terms of the series decrease and alternate in sign, so that
    partial sums lie below and above in turn.
    """
    halvings = max(0, (x.numerator // x.denominator).bit_length() + 1)
    reduced = x / (1 << halvings)
    r_low = (reduced.numerator << BITS) // reduced.denominator
    low, high = _series(r_low + 1), _series(r_low)
    low, high = low[0], high[1]
    for _ in range(halvings):
        low, high = (low * low) >> BITS, -((-high * high) >> BITS)
    return low, high


def _series(r: int) -> tuple[int, int]:
    term, total, number = _SCALE, _SCALE, 0
    while term:
        number += 1
        term = (term * r >> BITS) // number
        total += -term if number % 2 else term
    # The error of a term is below 4 units: 2 of its own, and half of that of the term before. The tail is below 4.
    slack = 4 * number + 4
    return total - slack, total + slack
