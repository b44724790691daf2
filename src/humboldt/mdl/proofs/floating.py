"""Computes the size up to which 64-bit floats are guaranteed to give the verdict that a certificate proves for reals.

The suite evaluates a network in floats. Counters in halves and quarters are exact there until they grow beyond 2^53; a
third is rounded, and the error grows with the string; a difference between outputs may be lost when they are divided by
their sum; and tanh(20) is 1. For one size N, all of this is bounded from the certificate: the largest value of each
unit in strings up to N, whether its sum is exact, the rounding error of one step, and its growth over the steps of a
string. N is good if all margins of the proof are larger than the errors. Assumption about the C library: tanh and exp
are within 4 units in the last place, of the right sign, and exact at 0.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from humboldt.mdl.proofs.checker.strings import LANGUAGES, Place, places
from humboldt.mdl.proofs.geometry.affine import HEAD, Form, Row, add, constant, scale, subtract, to_form, to_row
from humboldt.mdl.proofs.geometry.affine import substitute as replaced
from humboldt.mdl.proofs.geometry.polyhedron import Polyhedron
from humboldt.mdl.proofs.geometry.symbolic import (
    NOTHING,
    Piece,
    State,
    Value,
    influential_units,
    memory_units,
    rectified,
    span,
    step,
)
from humboldt.mdl.proofs.network import Network

MANTISSA = 2**53
ROUNDING = Fraction(1, MANTISSA)  # relative, of one operation
SLACK = 8 * ROUNDING  # of the division by the sum, and of the comparison
LIBRARY = 8 * ROUNDING  # of tanh and of the logistic function, whose values are at most 1
LARGEST = 2**50
INFLATION = 1.0 + 2.0**-40  # more than the rounding of the bounds themselves, which are computed in floats


@dataclass(frozen=True)
class Situation:
    """A step of the proof: all states of `before` in a region, the symbol read, and the symbols that can follow."""

    region: Polyhedron
    before: State | None
    symbol: int
    follow: frozenset[int]
    counts: bool


def float_size(certificate: dict[str, Any], network: Network, *, most: int = LARGEST) -> int:
    """Returns the largest size, at most `most`, up to which floats are guaranteed to agree with a checked certificate.

    The size is n, n + m, or for Dyck-1 the length of the string. The result is rounded down to about one part in 16.
    """
    situations = _Situations(certificate)
    good, bad = 0, 1
    while bad <= most and _agrees(network, situations, bad):
        good, bad = bad, 2 * bad
    if bad > most:
        return most
    while bad - good > max(1, good // 16):
        middle = (good + bad) // 2
        good, bad = (middle, bad) if _agrees(network, situations, middle) else (good, middle)
    return good


class _Situations:
    """The steps of a proof, for strings up to any size."""

    def __init__(self, certificate: dict[str, Any]) -> None:
        claim = certificate["claim"]
        self.measure, self.epsilon = claim["measure"], Fraction(claim["epsilon"])
        self.needs = LANGUAGES[claim["language"]][2]
        self.spots = places(claim["language"])
        self.size = len(self.spots[0].domain[0]) - 1
        self.cells = [
            (
                cell["place"],
                [tuple(row) for row in cell["where"]],
                {int(u): _read(v) for u, v in cell["values"].items()},
            )
            for cell in certificate["cells"]
        ]

    def steps(self, size: int) -> int:
        """Returns the largest number of symbols of a string of that size, including the first `#`."""
        return 1 + size * (1 if self.needs is None else 1 + sum(max(row) for row in self.needs))

    def up_to(self, size: int) -> Iterator[Situation]:
        """Yields the steps inside strings up to a size."""
        origin = [tuple(-int(i == j) for j in range(self.size + 1)) for i in range(1, self.size + 1)]
        yield from self._arrivals(origin, None, 0, [to_form(tuple(-x for x in row)) for row in origin])
        for place, rows, state in self.cells:
            spot = self.spots[place]
            for where, target, images in spot.moves:
                yield from self._arrivals(
                    [*spot.domain, *rows, *where, self._small(place, size)],
                    state,
                    target,
                    [to_form(image) for image in images],
                )

    def _small(self, place: int, size: int) -> Row:
        """Returns the row that limits the variables to strings of that size. After the free blocks, k is limited by
        their lengths."""
        if self.needs is None:
            return (size // 2, -1)
        return (size, *[-1] * (self.size - 1), -1 if place <= len(self.needs[0]) else 0)

    def _arrivals(self, rows: list[Row], state: State | None, target: int, images: list[Form]) -> Iterator[Situation]:
        spot: Place = self.spots[target]
        for condition, follow in spot.follow:
            pulled = [to_row(replaced(to_form(row), images)) for row in condition]
            region = Polyhedron(self.size, [*rows, *pulled])
            counts = self.measure == "M_cat" or (target > 0 and len(follow) == 1)
            if not region.is_empty:
                yield Situation(region, state, target, frozenset(follow), counts)


def _read(pair: list) -> Value:
    low, high = (None if form is None else (Fraction(form[0]), Fraction(0), *map(Fraction, form[1:])) for form in pair)
    return Value(low, high)


def _agrees(network: Network, situations: _Situations, size: int) -> bool:
    units = sorted(influential_units(network))
    pieces = [
        (situation, piece)
        for situation in situations.up_to(size)
        for piece in step(network, situation.region, situation.before, situation.symbol, units)
    ]
    exact = set(memory_units(network))
    while True:  # which memory units floats hold exactly
        errors = [_Errors(network, situation, piece, exact) for situation, piece in pieces]
        rounded = {
            unit for unit in exact for error in errors if error.local.get(unit, Fraction(0)) or unit in error.lost
        }
        if not rounded:
            break
        exact -= rounded
    if any(error.broken for error in errors):
        return False
    total = _accumulated(network, errors, situations.steps(size), units)
    return all(error.passes(situations, total) for error in errors if error.situation.counts)


class _Errors:
    """The effect of rounding on each unit in one piece."""

    def __init__(self, network: Network, situation: Situation, piece: Piece, exact: set[int]) -> None:
        self.network, self.situation, self.piece = network, situation, piece
        self.local: dict[int, Fraction] = {}  # error that this step adds
        self.slope: dict[int, Fraction] = {}  # factor on errors of the input
        self.lost: set[int] = set()  # units that have an error, from this step or an earlier one
        self.signed: set[int] = set()  # units that are not exact but have the right sign
        self.broken = False
        for number in network.topological_order:
            if number in piece.values:
                self._unit(number, exact)

    def _unit(self, number: int, exact: set[int]) -> None:
        unit, region = self.network.units[number], self.piece.region
        before = self.situation.before
        terms, sure = [], True
        for edge in self.network.incoming[number]:
            if edge.recurrent and before is None:
                continue
            value = (before or {}).get(edge.source, NOTHING) if edge.recurrent else self.piece.values[edge.source]
            sure = sure and (edge.source in exact if edge.recurrent else edge.source not in self.lost)
            terms.append((value, edge.weight.as_fraction()))
        if number in self.network.inputs:
            terms.append((Value.exact(constant(int(number == self.situation.symbol), region.size)), Fraction(1)))
        if unit.bias is not None:
            terms.append((Value.exact(constant(1, region.size)), unit.bias.as_fraction()))
            factors = len(terms) - 1
        else:
            factors = len(terms)
        size, grid = _total(terms, region), _grid(terms)
        output = self.piece.values[number]
        adds_exactly = sure and grid is not None and size * grid <= MANTISSA and (unit.type == "sum" or factors < 2)
        smooth = {"linear": 1, "relu": 1, "tanh": 1, "sigmoid": Fraction(1, 4)}
        if adds_exactly and (unit.activation not in ("tanh", "sigmoid") or output.form is not None):
            reach = max(map(abs, span(output, region)))
            self.broken |= unit.activation == "square" and (grid is None or reach * grid * grid > MANTISSA)
            self.local[number], self.slope[number] = Fraction(0), Fraction(0)
            return
        self.lost.add(number)
        if adds_exactly and unit.activation == "tanh":
            self.signed.add(number)
        if unit.activation not in smooth or unit.type == "product" or size == float("inf"):
            self.broken = True  # a jump, or an unbounded factor, next to a value that is not exact
            return
        slope = Fraction(smooth[unit.activation])
        rounding = Fraction(0) if adds_exactly else slope * (len(terms) + 3) * ROUNDING * Fraction(size)
        library = LIBRARY if unit.activation in ("tanh", "sigmoid") else Fraction(0)
        self.local[number], self.slope[number] = rounding + library, slope

    def passes(self, situations: _Situations, total: dict[int, Fraction]) -> bool:
        """Returns whether the margins of the proof are larger than the errors."""
        region, measure, epsilon = self.piece.region, situations.measure, situations.epsilon
        outputs = [rectified(self.piece.values[unit], region) for unit in self.network.outputs]
        wrong = [total[unit] if unit in self.lost else Fraction(0) for unit in self.network.outputs]
        sizes = [span(output, region)[1] for output in outputs]
        if any(size == float("inf") for size in sizes):
            return False
        all_wrong = sum(wrong, Fraction(0))
        slack = SLACK * (sum((Fraction(size) for size in sizes), Fraction(0)) + all_wrong)
        for symbol, output in enumerate(outputs):
            others = [i for i in range(len(outputs)) if i != symbol]
            follows = symbol in self.situation.follow
            gaps: list[tuple[Form | None, Fraction]] = []
            if measure == "M_det" and follows:
                gaps = [(_gap(1, output, [(1, outputs[i])]), wrong[symbol] + wrong[i] + slack) for i in others]
            elif measure == "M_cat" and follows and not epsilon:  # a quotient is above 0 where its numerator is
                gaps = [(output.low, wrong[symbol])]
            elif measure == "M_cat" and follows:
                gaps = [(_gap(1 - epsilon, output, [(epsilon, outputs[i]) for i in others]), all_wrong + slack)]
            elif measure == "M_cat" and self._may_rise(symbol, total):
                below = NOTHING if output.high is None else Value(scale(output.high, -1), None)
                gaps = [(_gap(1 - epsilon, below, [(-epsilon, outputs[i]) for i in others]), all_wrong + slack)]
            for gap, error in gaps:
                if gap is None or not region.is_positive(subtract(gap, constant(error, region.size))):
                    return False
        return True

    def _may_rise(self, symbol: int, total: dict[int, Fraction]) -> bool:
        """Returns whether an output that is 0 or below may be above 0 in floats."""
        unit = self.network.outputs[symbol]
        high = span(self.piece.values[unit], self.piece.region)[1]
        if unit in self.signed or unit not in self.lost:
            return high > 0
        return high + total[unit] > 0


def _gap(factor: Fraction | int, output: Value, others: list[tuple[Fraction | int, Value]]) -> Form | None:
    """Returns a lower bound of `factor * output` minus the others; a negative factor adds, and uses a lower bound."""
    if output.low is None:
        return None
    gap = scale(output.low, factor)
    for weight, other in others:
        bound = other.high if weight > 0 else other.low
        if weight and bound is None:
            return None
        gap = add(gap, scale(bound, -weight)) if weight and bound is not None else gap
    return gap


def _total(terms: list[tuple[Value, Fraction]], region: Polyhedron) -> Fraction | float:
    return sum((abs(weight) * max(map(abs, span(value, region))) for value, weight in terms), Fraction(0))


def _grid(terms: list[tuple[Value, Fraction]]) -> int | None:
    """Returns the power of 2 that makes all terms, and their parts, whole numbers; `None` if there is none."""
    grid = 1
    for value, weight in terms:
        if value.form is None:
            return None
        for number in (value.form[0], *value.form[HEAD:]):
            size = (number * weight).denominator * weight.denominator * number.denominator
            if size & (size - 1):
                return None
            grid = max(grid, size)
    return grid


def _accumulated(network: Network, errors: list[_Errors], steps: int, units: list[int]) -> dict[int, Fraction]:
    """Returns a bound of each unit's error in a string of `steps` steps. A step maps earlier errors to later ones."""
    local = {unit: max((error.local.get(unit, Fraction(0)) for error in errors), default=Fraction(0)) for unit in units}
    slope = {unit: max((error.slope.get(unit, Fraction(0)) for error in errors), default=Fraction(0)) for unit in units}
    memory = memory_units(network)
    rows: dict[int, list[float]] = {}  # of each unit: the factors on the errors of the memory, then the added error
    for number in network.topological_order:
        if number in local:
            row = [0.0] * len(memory) + [float(local[number])]
            for edge in network.incoming[number]:
                factor = float(slope[number]) * abs(float(edge.weight)) * INFLATION
                source = [0.0] * len(row)
                if edge.recurrent:
                    source[memory.index(edge.source)] = 1.0
                else:
                    source = rows[edge.source]
                row = [(x + factor * y) * INFLATION for x, y in zip(row, source, strict=True)]
            rows[number] = row
    matrix, reached = [rows[unit][:-1] for unit in memory], [rows[unit][-1] for unit in memory]
    done = 1
    while done < steps:  # doubles the steps: applies the same map to its own result
        reached = [(x + y) * INFLATION for x, y in zip(_apply(matrix, reached), reached, strict=True)]
        matrix = [[x * INFLATION for x in _apply(list(zip(*matrix, strict=True)), row)] for row in matrix]
        done *= 2
    last = [*reached, 1.0]
    return {
        unit: Fraction(sum(x * y for x, y in zip(row, last, strict=True)) * INFLATION) for unit, row in rows.items()
    }


def _apply(matrix: list, vector: list[float]) -> list[float]:
    return [sum(x * y for x, y in zip(row, vector, strict=True)) * INFLATION for row in matrix]
