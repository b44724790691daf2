"""Checks a certificate that a network knows a language. Shares no code with the prover; exact fractions only.

A certificate lists cells: a place in the strings (see `strings`), a set of values of the variables there (rows), and forms
below and above the value of memory units in that set. It is accepted if the cells cover every place, hold after the first
`#`, hold after each further symbol if they held before it, and if the outputs pass the measure at each of these steps: by
induction the network is then right about every string. A form is `(constant, coefficients, strictness)`: a lower bound
with strictness above 0 is never reached, nor an upper bound with strictness below 0. `None` is no bound.
"""

import hashlib
import json
import math
from collections.abc import Iterator
from fractions import Fraction as F
from functools import cache
from itertools import product
from typing import Any

from humboldt.errors import UsageError
from humboldt.mdl.proofs.network import Network
from humboldt.mdl.proofs.strings import LANGUAGES, Place, places

GRAIN = 2**128
MALFORMED = (KeyError, TypeError, ValueError, IndexError, AttributeError, ZeroDivisionError, OverflowError)


class Rejected(UsageError):
    """The certificate does not show what it claims: why, and in which place of the strings."""

    def __init__(self, reason: str, place: int | None = None) -> None:
        super().__init__(f"The certificate is not valid: {reason}. Make a new one with `prove`.")
        self.reason, self.place = reason, place


class Split(Exception):
    """A form has both signs where a unit needs one."""


def demand(condition: bool, reason: str, place: int | None = None) -> None:
    """Rejects the certificate unless the condition holds."""
    if not condition:
        raise Rejected(reason, place)


def digest(data: Any) -> str:
    """The hash of JSON data."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def combine(*parts: tuple[Any, Any]) -> Any:
    """The sum of multiples of forms, or of rows."""
    if any(form is None for factor, form in parts if factor):
        return None
    return tuple(map(sum, zip(*([factor * x for x in form] for factor, form in parts if form), strict=True)))


def least(rows: list, form: Any) -> Any:
    """A number that the form is never below at whole-numbered points; infinity if there are none (Fourier, Motzkin)."""
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
    low = max((F(-x[0], x[-1]) for x in system if x[-1] > 0), default=-math.inf)
    high = min((F(x[0], -x[-1]) for x in system if x[-1] < 0), default=math.inf)
    return math.inf if low > high or any(x[0] < 0 and not x[-1] for x in system) else low / scale


def is_empty(rows: list) -> bool:
    """Whether the rows leave no whole-numbered point."""
    return least(rows, (0,) * (len(rows[0]) + 1)) == math.inf


def holds(rows: list, form: Any, strictly: bool = False) -> bool:
    """Whether a lower bound is at least 0 everywhere, or above it."""
    number = -math.inf if form is None else least(rows, form)
    return number > 0 or (number == 0 and (not strictly or form[-1] > 0))


def covered(rows: list, cells: list) -> bool:
    """Whether each whole-numbered point is in one of the cells."""
    if not cells or is_empty(rows):
        return is_empty(rows)
    (inside, _), *rest = cells
    outside = [(-row[0] - 1, *(-x for x in row[1:])) for row in inside]
    parts = [[]] if is_empty(rows + inside) else [[*inside[:i], row] for i, row in enumerate(outside)]
    return all(covered(rows + part, rest) for part in parts)


@cache
def logistic(x: F) -> tuple[F, F]:
    """Bounds of 1 / (1 + exp(-x)): exp(x) is exp(x / 64)^64, of which 50 terms of the series are taken."""
    if not 0 < x <= 100:
        low, high = logistic(min(abs(x), F(100))) if x else (F(1, 2), F(1, 2))
        return (low, F(1)) if x > 100 else (F(0) if x < -100 else 1 - high, 1 - low)
    series = sum(F(math.floor(x * GRAIN), 64 * GRAIN) ** i / math.factorial(i) for i in range(50))
    low = F(math.floor(series * GRAIN), GRAIN)
    low, high = (number**64 / (1 + number**64) * GRAIN for number in (low, low + F(4, GRAIN)))
    return F(math.floor(low), GRAIN), F(math.ceil(high), GRAIN)


def activate(name: str, low: Any, high: Any, rows: list) -> tuple[Any, Any]:
    """Bounds of an activation, from bounds of its input."""

    def flat(number: Any, strictness: int = 0) -> Any:
        return None if math.isinf(number) else (F(number), *[F(0)] * (len(rows[0]) - 1), F(strictness))

    if name == "linear":
        return low, high
    bottom = -math.inf if low is None else least(rows, low)
    top = math.inf if high is None else -least(rows, combine((-1, high)))
    if name == "relu" and bottom >= 0:
        return low, high
    if name in ("relu", "step"):
        if top <= 0 or (name == "step" and holds(rows, low, strictly=True)):
            return (flat(int(top > 0)),) * 2
        if low == high and low is not None:
            raise Split(low)
        return flat(0), flat(1 if name == "step" else top)
    if name in ("tanh", "sigmoid"):
        factor, floor = (2, -1) if name == "tanh" else (1, 0)
        below = floor if math.isinf(bottom) else factor * logistic(factor * bottom)[0] + floor
        above = 1 if math.isinf(top) else factor * logistic(factor * top)[1] + floor
        return flat(below, int(below <= floor)), flat(above, -int(above >= 1))
    if bottom == top:
        known = {"square": top * top, "floor": math.floor(top), "modulo_2": top % 2, "modulo_3": top % 3}
        return (flat(known[name]),) * 2
    if name == "floor":
        whole = low is not None and low == high and all(x.denominator == 1 for x in low)
        below, above = (x if math.isinf(x) else math.floor(x) for x in (bottom, top))
        return (low, high) if whole else (flat(below), flat(above - int(above == top and (high or [0])[-1] < 0)))
    return flat(0), flat(max(-bottom, top) ** 2) if name == "square" else flat(int(name[-1]), -1)


def value(network: Network, rows: list, before: dict | None, symbol: int, number: int, known: dict) -> tuple[Any, Any]:
    """Bounds of a unit after reading `symbol`; `before` has those of the step before, `known` those of this one."""
    if number not in known:
        unit, one = network.units[number], (F(1), *[F(0)] * len(rows[0]))
        terms = [[combine((int(number == symbol), one))] * 2] if number in network.inputs else []
        for edge in network.edges:
            if edge.target == number and not edge.recurrent:
                source = value(network, rows, before, symbol, edge.source, known)[:: edge.weight.sign]
            elif edge.target == number and before is not None:
                source = before.get(edge.source, (None, None))[:: edge.weight.sign]
            else:
                continue
            terms.append([combine((edge.weight.as_fraction(), form)) for form in source])
        if unit.type == "product" and terms:
            others = [term for term in terms if None in term or term[0] != term[1] or any(term[0][1:])]
            factor = math.prod((term[0][0] for term in terms if term not in others), start=F(1))
            pair = [one, one] if not factor or not others else others[0] if len(others) == 1 else [None, None]
            terms = [[combine((factor, form)) for form in pair[:: 1 if factor >= 0 else -1]]]
        bias = combine((unit.bias.as_fraction() if unit.bias else 0, one))
        low, high = (combine((1, bias), *((1, term[side]) for term in terms)) for side in (0, 1))
        known[number] = activate(unit.activation, low, high, rows)
    return known[number]


def step(
    network: Network, rows: list, before: dict | None, symbol: int, units: Any
) -> Iterator[tuple[list, dict, list]]:
    """Parts of a set in which no unit switches; the bounds of `units`, and of the outputs, with negative ones as 0."""
    known: dict[int, tuple[Any, Any]] = {}
    try:
        values = {unit: value(network, rows, before, symbol, unit, known) for unit in (*network.outputs, *units)}
        result = rows, values, [activate("relu", *values[unit], rows) for unit in network.outputs]
    except Split as split:
        scale = math.lcm(*(x.denominator for x in split.args[0]))
        row = [int(x * scale) for x in split.args[0][:-1]]
        for part in ([*rows, (row[0] - 1, *row[1:])], [*rows, tuple(-x for x in row)]):
            yield from () if is_empty(part) else step(network, part, before, symbol, units)
    else:
        yield result


def passes(rows: list, outputs: list, follow: frozenset[int], measure: str, epsilon: F) -> bool:
    """Whether the normalised outputs pass. Outputs that are all 0 become equal, which never passes, and here neither."""
    forms = []
    for symbol, (low, high) in enumerate(outputs):
        others = outputs[:symbol] + outputs[symbol + 1 :]
        if measure == "M_det":
            forms += [(combine((1, low), (-1, other[1])), True) for other in others if symbol in follow]
        elif symbol in follow:
            forms.append((combine((1 - epsilon, low), *((-epsilon, other[1]) for other in others)), True))
        else:
            forms.append((combine((epsilon - 1, high), *((epsilon, other[0]) for other in others)), False))
    return all(holds(rows, form, strictly) for form, strictly in forms)


def arrive(network: Network, claim: dict, before: tuple, move: tuple, spots: list[Place], cells: list) -> None:
    """Demands that each cell holds where a move leads into it, and that what can follow there is known."""
    (rows, forms), (where, place, images) = before, move
    pull = lambda row: combine((row[0], (1, *[0] * (len(row) - 1))), *zip(row[1:], images, strict=True))  # noqa: E731
    for (index, (inside, target)), (condition, follow) in product(enumerate(cells[place]), spots[place].follow):
        region = rows + where + [pull(row) for row in inside + condition]
        counts = claim["measure"] == "M_cat" or (place > 0 and len(follow) == 1)
        for part, values, outputs in [] if is_empty(region) else step(network, region, forms, place, target):
            for unit, (low, high) in target.items():
                below = low is None or holds(part, combine((1, values[unit][0]), (-1, (*pull(low[:-1]), 0))))
                above = high is None or holds(part, combine((1, (*pull(high[:-1]), 0)), (-1, values[unit][1])))
                demand(
                    below and above, f"{network.name(unit)} leaves its bounds in cell {index} of place {place}", place
                )
            right = not counts or passes(part, outputs, follow, claim["measure"], F(claim["epsilon"]))
            demand(right, f"the outputs may be wrong in cell {index} of place {place}", place)


def check(certificate: Any, network: Network) -> dict[str, Any]:
    """The claim that a certificate proves about the network; raises `Rejected` if it does not prove it."""
    try:
        claim = certificate["claim"]
        content = {key: certificate[key] for key in certificate if key != "sha256"}
        demand(certificate["sha256"] == digest(content), "it was changed")
        demand(claim["network"] == digest(json.loads(network.to_json())), "it is about another network")
        definition, measure = LANGUAGES[claim["language"]], claim["measure"]
        demand(claim["definition"] == digest(definition), "it is about another version of the language")
        demand(network.symbols == ("#", *definition[1]), "the network reads other symbols than the language has")
        demand(measure == "M_cat" or (measure == "M_det" and definition[2] is not None), "no such measure")
        demand(0 <= F(claim["epsilon"]) < 1, "epsilon is not in [0, 1)")
        spots = places(claim["language"])
        size = len(spots[0].domain[0])
        cells: list[list[tuple[list, dict]]] = [[] for _ in spots]
        for cell in certificate["cells"]:
            rows = [tuple(row) for row in cell["where"]]
            forms = {
                int(unit): [form and (*map(F, form), F(0)) for form in cell["values"][unit]] for unit in cell["values"]
            }
            sizes = {len(row) for row in rows} | {len(form) - 1 for pair in forms.values() for form in pair if form}
            demand(
                sizes <= {size} and all(type(x) is int for row in rows for x in row),
                "a row or form is of another space",
            )
            cells[range(len(spots)).index(cell["place"])].append((spots[cell["place"]].domain + rows, forms))
        start = [tuple(int(i == j) for j in range(size)) for i in range(1, size)]
        arrive(network, claim, (spots[0].domain, None), ([], 0, start), spots, cells)
        for place, spot in enumerate(spots):
            demand(covered(spot.domain, cells[place]), f"its cells do not cover all of place {place}")
            for cell in cells[place]:
                for move in spot.moves:
                    arrive(network, claim, cell, move, spots, cells)
        return claim
    except MALFORMED as error:
        raise Rejected(f"it is damaged ({error!r})") from error
