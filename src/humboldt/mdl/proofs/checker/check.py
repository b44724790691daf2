"""Checks a certificate that a network is right about a language. Exact fractions only; no code of the prover.

A certificate lists cells: a place in the strings (see `strings`), a set of values of the variables there (rows), and
forms below and above the value of memory units in that set. It is accepted if the cells cover every place, hold after
the first `#`, hold after each further symbol if they held before it, and if the outputs pass the measure at each of
these steps: by induction the network is then right about every string. For forms see `elimination`; `None` is no bound.
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
from humboldt.mdl.proofs.checker.elimination import INFINITY, combine, covered, holds, is_empty, least
from humboldt.mdl.proofs.checker.strings import LANGUAGES, places
from humboldt.mdl.proofs.network import Network

GRAIN = 2**128
MALFORMED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)


class Rejected(UsageError):
    """The certificate does not prove its claim; has the reason, and the place in the strings."""

    def __init__(self, reason: str, place: int | None = None) -> None:
        super().__init__(f"The certificate is not valid: {reason}. Make a new one with `prove`.")
        self.reason, self.place = reason, place


class Split(Exception):
    """A form has both signs where a unit needs a single sign."""


def demand(condition: bool, reason: str, place: int | None = None) -> None:
    """Rejects the certificate unless the condition holds."""
    if not condition:
        raise Rejected(reason, place)


def digest(data: Any) -> str:
    """Returns the hash of JSON data."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


@cache
def logistic(x: F) -> tuple[F, F]:
    """Returns bounds of 1 / (1 + exp(-x)): exp(x) is exp(x / 64)^64, from 50 terms of the series of exp(x / 64)."""
    if not 0 < x <= 100:
        low, high = logistic(min(abs(x), F(100))) if x else (F(1, 2), F(1, 2))
        return (low, F(1)) if x > 100 else (F(0) if x < -100 else 1 - high, 1 - low)
    series = sum(F(math.floor(x * GRAIN), 64 * GRAIN) ** i / math.factorial(i) for i in range(50))
    low = F(math.floor(series * GRAIN), GRAIN)
    low, high = (number**64 / (1 + number**64) * GRAIN for number in (low, low + F(8, GRAIN)))
    return F(math.floor(low), GRAIN), F(math.ceil(high), GRAIN)


def activate(name: str, low: Any, high: Any, rows: list) -> Any:
    """Returns bounds of an activation, from bounds of its input."""

    def flat(number: Any, strictness: int = 0) -> Any:
        return None if math.isinf(number) else (F(number), *[F(0)] * (len(rows[0]) - 1), F(strictness))

    if name == "linear":
        return low, high
    bottom, top = least(rows, low), -least(rows, combine((-1, high)))
    exact = None not in (low, high) and low == high
    if name in ("relu", "step"):
        if bottom > 0 or top <= 0 or (bottom == 0 and (name == "relu" or low[-1] > 0)):
            return (low, high) if name == "relu" and top > 0 else (flat(int(top > 0)),) * 2
        if exact:
            raise Split(low)
        return flat(0), flat(1 if name == "step" else top)
    if name in ("tanh", "sigmoid"):
        factor, floor = (2, -1) if name == "tanh" else (1, 0)
        below = floor if math.isinf(bottom) else factor * logistic(factor * bottom)[0] + floor
        above = 1 if math.isinf(top) else factor * logistic(factor * top)[1] + floor
        return flat(below, int(below <= floor)), flat(above, -int(above >= 1))
    whole, divisor = exact and all(x.denominator == 1 for x in low), 3 if name == "modulo_3" else 2
    if name == "floor" and bottom != top:
        below, above = (x if math.isinf(x) else math.floor(x) for x in (bottom, top))
        return (low, high) if whole else (flat(below), flat(above - int(above == top < INFINITY and high[-1] < 0)))
    if bottom == top or (name != "square" and whole and not any(x % divisor for x in low[1:])):
        number = top if bottom == top else low[0]
        return (flat({"square": number * number, "floor": math.floor(number)}.get(name, number % divisor)),) * 2
    return flat(0), flat(max(-bottom, top) ** 2) if name == "square" else flat(divisor, -1)


def value(network: Network, rows: list, before: dict | None, symbol: int, number: int, known: dict) -> Any:
    """Returns bounds of a unit after reading `symbol`; `before` has those of the last step, `known` those of this."""
    if number not in known:
        unit, one = network.units[number], (F(1), *[F(0)] * len(rows[0]))
        terms = [[combine((int(number == symbol), one))] * 2] if number in network.inputs else []
        for edge in network.incoming[number]:
            if not edge.recurrent or before is not None:
                now = not edge.recurrent and value(network, rows, before, symbol, edge.source, known)
                source = (now or (before or {}).get(edge.source, (None, None)))[:: edge.weight.sign]
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
    """Yields parts of a set in which no unit switches, bounds of `units`, and those of the outputs, at least 0."""
    try:
        known: dict[int, Any] = {}
        values = {unit: value(network, rows, before, symbol, unit, known) for unit in (*network.outputs, *units)}
        result = rows, values, [activate("relu", values[unit][0], values[unit][1], rows) for unit in network.outputs]
    except Split as split:
        scale = math.lcm(*(x.denominator for x in split.args[0]))
        row = [int(x * scale) for x in split.args[0][:-1]]
        for part in ([*rows, (row[0] - 1, *row[1:])], [*rows, tuple(-x for x in row)]):
            yield from () if is_empty(part) else step(network, part, before, symbol, units)
    else:
        yield result


def passes(rows: list, outputs: list, follow: set[int], measure: str, epsilon: F) -> bool:
    """Returns whether the normalised outputs pass. If all are 0 they become equal, which fails."""
    for symbol, (low, high) in enumerate(outputs):
        others = outputs[:symbol] + outputs[symbol + 1 :]
        if symbol not in follow:
            forms = [combine((epsilon - 1, high), *((epsilon, other[0]) for other in others))] * (measure == "M_cat")
        elif measure == "M_det":
            forms = [combine((1, low), (-1, other[1])) for other in others]
        else:
            forms = [combine((1 - epsilon, low), *((-epsilon, other[1]) for other in others))]
        if not all(holds(rows, form, strictly=symbol in follow) for form in forms):
            return False
    return True


def arrive(network: Network, claim: dict, before: tuple, move: tuple, follows: list, cells: list) -> None:
    """Demands that each cell holds where a move leads into it, and that the outputs there are right."""
    (rows, forms), (where, place, images) = before, move

    def pull(row: Any) -> Any:  # the row in the variables before the move
        return combine((row[0], (1, *[0] * len(images))), *zip(row[1 : len(images) + 1], images, strict=True))

    for (inside, target), (condition, follow) in product(cells[place], follows[place]):
        region = rows + where + [pull(row) for row in inside + condition]
        counts = claim["measure"] == "M_cat" or (place > 0 and len(follow) == 1)
        for part, values, outputs in () if is_empty(region) else step(network, region, forms, place, target):
            for unit, (low, high) in target.items():
                below = low is None or holds(part, combine((1, values[unit][0]), (-1, (*pull(low), 0))))
                above = high is None or holds(part, combine((1, (*pull(high), 0)), (-1, values[unit][1])))
                demand(below and above, f"{network.name(unit)} leaves its bounds", place)
            right = not counts or passes(part, outputs, follow, claim["measure"], F(claim["epsilon"]))
            demand(right, "the outputs may be wrong", place)


def check(certificate: Any, network: Network) -> dict[str, Any]:
    """Returns the claim that a certificate proves about the network; raises `Rejected` if it does not prove it."""
    try:
        claim = certificate["claim"]
        definition, spots = LANGUAGES[claim["language"]], places(claim["language"])
        content = {key: certificate[key] for key in certificate if key != "sha256"}
        demand(certificate["sha256"] == digest(content), "it was changed")
        demand(claim["network"] == digest(json.loads(network.to_json())), "it is about another network")
        demand(claim["definition"] == digest(definition), "it is about another version of the language")
        demand(network.symbols == ("#", *definition[1]), "the network reads other symbols than the language has")
        demand(claim["measure"] in ("M_det", "M_cat")[definition[2] is None :], "the language has no such measure")
        demand(0 <= F(claim["epsilon"]) < 1, "epsilon is not in [0, 1)")
        size, cells = len(spots[0].domain[0]), [[] for _ in spots]
        for cell in certificate["cells"]:
            rows = [tuple(row) for row in cell["where"]]
            forms = {
                int(unit): [form and (*map(F, form), F(0)) for form in pair] for unit, pair in cell["values"].items()
            }
            sizes = {len(row) for row in rows} | {len(form) - 1 for pair in forms.values() for form in pair if form}
            demand(sizes <= {size} and all(type(x) is int for row in rows for x in row), "it has rows of another space")
            cells[range(len(spots)).index(cell["place"])].append((spots[cell["place"]].domain + rows, forms))
        follows = [spot.follow for spot in spots]
        start = [tuple(int(i == j) for j in range(size)) for i in range(1, size)]
        arrive(network, claim, (spots[0].domain, None), ([], 0, start), follows, cells)
        for spot, here in zip(spots, cells, strict=True):
            demand(covered(spot.domain, here), "its cells do not cover the language")
            for cell, move in product(here, spot.moves):
                arrive(network, claim, cell, move, follows, cells)
        return claim
    except MALFORMED as error:
        raise Rejected(f"it is damaged ({error!r})") from error
