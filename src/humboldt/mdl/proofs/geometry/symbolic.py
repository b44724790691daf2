"""One step of a network from all states of a polyhedron at once.

A unit's value is an affine form, or lies between two of them. Where a ReLU or step unit switches inside the polyhedron,
the polyhedron is cut in two at the switch.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from humboldt.mdl.proofs.geometry import enclosure
from humboldt.mdl.proofs.geometry.affine import (
    HEAD,
    ZERO,
    Form,
    Row,
    above_zero,
    add,
    at_most_zero,
    constant,
    is_constant,
    scale,
)
from humboldt.mdl.proofs.geometry.polyhedron import INFINITY, Polyhedron
from humboldt.mdl.proofs.network import Network, Unit

Number = Fraction | float  # a float only if infinite
GRAIN = 2**64
MOST_BITS = 8192


@dataclass(frozen=True)
class Value:
    """Bounds of a unit: at least `low`, at most `high`; `None` is no bound. If equal, they are the value itself."""

    low: Form | None
    high: Form | None

    @classmethod
    def exact(cls, form: Form) -> "Value":
        """Returns an exactly known value."""
        return cls(form, form)

    @property
    def form(self) -> Form | None:
        """The value if it is exactly known, else `None`."""
        return self.low if self.low == self.high else None


NOTHING = Value(None, None)
State = Mapping[int, Value]


class Switch(Exception):
    """A unit changes its piece inside the polyhedron, where this form changes its sign."""

    def __init__(self, form: Form) -> None:
        super().__init__()
        self.form = form


@dataclass(frozen=True)
class Piece:
    """A part of a polyhedron, cut out by `rows`, and the values of the requested units there."""

    region: Polyhedron
    rows: tuple[Row, ...]
    values: dict[int, Value]


def influential_units(network: Network) -> frozenset[int]:
    """Returns the units that can change an output, directly or later."""
    needed = set(network.outputs)
    while more := {edge.source for edge in network.edges if edge.target in needed} - needed:
        needed |= more
    return frozenset(needed)


def memory_units(network: Network) -> tuple[int, ...]:
    """Returns the units that the next step reads and that can change an output."""
    needed = influential_units(network)
    return tuple(sorted({edge.source for edge in network.edges if edge.recurrent and edge.target in needed}))


def step(network: Network, region: Polyhedron, before: State | None, symbol: int, wanted: Iterable[int]) -> list[Piece]:
    """Reads `symbol` from every state of a region; `before` is `None` at the first step. Empty parts are left out."""
    pieces: list[Piece] = []
    pending: list[tuple[Polyhedron, tuple[Row, ...]]] = [(region, ())]
    wanted = tuple(wanted)
    while pending:
        part, rows = pending.pop()
        if part.is_empty:
            continue
        evaluation = _Evaluation(network, part, before, symbol)
        try:
            pieces.append(Piece(part, rows, {unit: evaluation.value(unit) for unit in wanted}))
        except Switch as switch:
            for row in (above_zero(switch.form), at_most_zero(switch.form)):
                pending.append((part.cut(row), (*rows, row)))
    return pieces


class _Evaluation:
    """The units' values in one polyhedron, each computed on demand."""

    def __init__(self, network: Network, region: Polyhedron, before: State | None, symbol: int) -> None:
        self.network, self.region, self.before, self.symbol = network, region, before, symbol
        self.known: dict[int, Value] = {}

    def value(self, number: int) -> Value:
        if number not in self.known:
            unit = self.network.units[number]
            total = self._product(number) if unit.type == "product" else self._sum(number)
            if unit.bias is not None:
                total = _plus(total, unit.bias.as_fraction())
            self.known[number] = _bounded(activate(unit, total, self.region))
        return self.known[number]

    def _terms(self, number: int) -> list[Value]:
        terms = []
        for edge in self.network.incoming[number]:
            if not edge.recurrent:
                terms.append(_times(self.value(edge.source), edge.weight.as_fraction()))
            elif self.before is not None:
                terms.append(_times(self.before.get(edge.source, NOTHING), edge.weight.as_fraction()))
        if number in self.network.inputs:
            terms.append(self._exact(int(number == self.symbol)))
        return terms

    def _exact(self, number: Fraction | int) -> Value:
        return Value.exact(constant(number, self.region.size))

    def _sum(self, number: int) -> Value:
        total = self._exact(0)
        for term in self._terms(number):
            total = Value(_both(total.low, term.low), _both(total.high, term.high))
        return total

    def _product(self, number: int) -> Value:
        terms = self._terms(number)
        if not terms:
            return self._exact(0)
        factor, rest = Fraction(1), []
        for term in terms:
            if term.form is not None and is_constant(term.form):
                factor *= term.form[0]
            else:
                rest.append(term)
        if not rest or not factor:
            return self._exact(factor)
        if len(rest) == 1:
            return _times(rest[0], factor)
        low, high = span(rest[0], self.region)
        for term in rest[1:]:
            corners = [_multiply(x, y) for x in (low, high) for y in span(term, self.region)]
            low, high = min(corners), max(corners)
        return _times(_between(low, high, self.region.size), factor)


def _bounded(value: Value) -> Value:
    """Rounds bounds outward if they are not exact; returns `NOTHING` for an exact form whose numbers are too long."""
    if value.form is None:
        return Value(_rounded(value.low, math.floor), _rounded(value.high, math.ceil))
    return NOTHING if any(x.numerator.bit_length() > MOST_BITS for x in value.form) else value


def _rounded(form: Form | None, way: Callable[[Fraction], int]) -> Form | None:
    if form is None or form[0].denominator <= GRAIN:
        return form
    return (Fraction(way(form[0] * GRAIN), GRAIN), *form[1:])


def _multiply(left: Number, right: Number) -> Number:
    return ZERO if not left or not right else left * right


def _both(left: Form | None, right: Form | None) -> Form | None:
    return None if left is None or right is None else add(left, right)


def _plus(value: Value, number: Fraction) -> Value:
    def shifted(form: Form | None) -> Form | None:
        return None if form is None else (form[0] + number, *form[1:])

    return Value(shifted(value.low), shifted(value.high))


def _times(value: Value, factor: Fraction) -> Value:
    low, high = (None if form is None else scale(form, factor) for form in (value.low, value.high))
    return Value(low, high) if factor > 0 else Value(high, low)


def span(value: Value, region: Polyhedron) -> tuple[Number, Number]:
    """Returns the least and the greatest number that a value can be in a region."""
    low = -INFINITY if value.low is None else region.least(value.low)
    high = INFINITY if value.high is None else -region.least(scale(value.high, -1))
    return low, high


def _between(low: Number, high: Number, size: int, *, above: int = 0, below: int = 0) -> Value:
    """Returns a value between two numbers; `above` and `below` are the strictness of the bounds."""
    return Value(
        None if isinstance(low, float) else constant(low, size, above),
        None if isinstance(high, float) else constant(high, size, -below),
    )


def activate(unit: Unit, total: Value, region: Polyhedron) -> Value:
    """Returns the value of a unit's activation at its input."""
    name, form = unit.activation, total.form
    if name == "linear":
        return total
    if name in ("relu", "step"):
        return rectified(total, region) if name == "relu" else _stepped(total, region)
    if name in ("tanh", "sigmoid"):
        return _squashed(name, total, region)
    if form is not None and is_constant(form):
        return Value.exact(constant(_plain(name, form[0]), region.size))
    if name == "square":
        low, high = span(total, region)
        least = ZERO if low <= 0 <= high else min(low * low, high * high)
        return _between(least, max(low * low, high * high), region.size)
    whole = form is not None and all(x.denominator == 1 for x in form)
    if name == "floor":
        return total if whole else _floored(total, region)
    divisor = {"modulo_2": 2, "modulo_3": 3}[name]
    if whole and form is not None and all(x % divisor == 0 for x in form[HEAD:]):
        return Value.exact(constant(form[0] % divisor, region.size))
    return _between(ZERO, Fraction(divisor), region.size, below=1)


def _plain(name: str, x: Fraction) -> Fraction:
    if name == "square":
        return x * x
    return Fraction(math.floor(x)) if name == "floor" else x % {"modulo_2": 2, "modulo_3": 3}[name]


def rectified(total: Value, region: Polyhedron) -> Value:
    """Returns max(value, 0)."""
    size = region.size
    if total.low is not None and region.is_non_negative(total.low):
        return total
    if total.high is not None and region.is_non_negative(scale(total.high, -1)):
        return Value.exact(constant(0, size))
    if total.form is not None:
        raise Switch(total.form)
    high = total.high
    if high is not None and not region.is_non_negative(high):
        return _between(ZERO, max(ZERO, span(total, region)[1]), size)
    return Value(constant(0, size), high)


def _stepped(total: Value, region: Polyhedron) -> Value:
    size = region.size
    if total.low is not None and region.is_positive(total.low):
        return Value.exact(constant(1, size))
    if total.high is not None and region.is_non_negative(scale(total.high, -1)):
        return Value.exact(constant(0, size))
    if total.form is not None:
        raise Switch(total.form)
    return _between(ZERO, Fraction(1), size)


def _floored(total: Value, region: Polyhedron) -> Value:
    low, high = span(total, region)
    strict = total.high is not None and total.high[1] < 0
    least = low if isinstance(low, float) else Fraction(math.floor(low))
    greatest = high if isinstance(high, float) else Fraction(math.ceil(high) - 1 if strict else math.floor(high))
    return _between(least, greatest, region.size)


def _squashed(name: str, total: Value, region: Polyhedron) -> Value:
    bounds = enclosure.tanh if name == "tanh" else enclosure.sigmoid
    floor, ceiling = Fraction(-1 if name == "tanh" else 0), Fraction(1)
    low, high = span(total, region)
    if low == high == 0:
        return Value.exact(constant(bounds(ZERO)[0], region.size))
    # Rounded to be less precise than the checker's bounds, so that those lie between these.
    least = (
        floor
        if isinstance(low, float)
        else max(floor, Fraction(math.floor(bounds(Fraction(low))[0] * GRAIN) - 1, GRAIN))
    )
    greatest = (
        ceiling
        if isinstance(high, float)
        else min(ceiling, Fraction(math.ceil(bounds(Fraction(high))[1] * GRAIN) + 1, GRAIN))
    )
    return _between(least, greatest, region.size, above=int(least <= floor), below=int(greatest >= ceiling))
