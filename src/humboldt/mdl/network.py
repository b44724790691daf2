"""A recurrent network as a graph with rational weights: immutable, hashable, readable.

Units are numbered. With `V` symbols, units `0 .. V-1` are the inputs (one-hot, one per symbol, in the order of
`symbols`), units `V .. 2V-1` the outputs (same order), and the rest are hidden. A forward edge carries a value within
one time step, a recurrent edge to the next one. At each step a unit

1. adds up (type `sum`) or multiplies (type `product`) its weighted inputs: forward edges by ascending source, then
   recurrent edges by ascending source; at the first step there are no earlier values, so recurrent edges are absent;
   an input unit starts from its one-hot value; a unit without any input is 0;
2. adds its bias, whatever its type;
3. applies its activation.

Negative outputs count as 0, the rest is divided by the sum (uniform if the sum is 0).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from importlib import resources
from pathlib import Path

from humboldt.errors import UsageError, unknown_name
from humboldt.mdl.activations import ACTIVATIONS

UNIT_TYPES = ("sum", "product")
# Genomes pack weights into machine words; this is far above anything that a search reaches.
MAX_TERM = 2**20 - 1


@dataclass(frozen=True, order=True)
class Weight:
    """`sign * numerator / denominator`, not reduced: 2/2 costs more bits than 1/1 and is another weight."""

    sign: int
    numerator: int
    denominator: int

    def __post_init__(self) -> None:
        if self.sign not in (1, -1):
            raise UsageError(f"weight sign {self.sign} is neither 1 nor -1.")
        for name in ("numerator", "denominator"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_TERM:
                raise UsageError(
                    f"weight {name} is {value!r}. It must be a whole number from 1 to {MAX_TERM}; "
                    "for a weight of 0 leave the edge or bias out."
                )

    @classmethod
    def parse(cls, text: str) -> "Weight":
        """Reads a weight written as `3`, `-1/2` or `+2/2`."""
        if not isinstance(text, str):
            raise UsageError(f"weight {text!r} is not text. Write it as a fraction in quotes, like '-1/2'.")
        digits, sign = text.strip(), 1
        if digits[:1] in ("+", "-"):
            sign, digits = (-1 if digits[0] == "-" else 1), digits[1:]
        terms = digits.split("/")
        if len(terms) > 2 or not all(term.isascii() and term.isdigit() for term in terms):
            raise UsageError(f"weight {text!r} is not a fraction. Write it like '3', '-1/2' or '2/3'.")
        return cls(sign, int(terms[0]), int(terms[1]) if len(terms) == 2 else 1)

    def __str__(self) -> str:
        whole = f"{self.numerator}" if self.denominator == 1 else f"{self.numerator}/{self.denominator}"
        return f"-{whole}" if self.sign < 0 else whole

    def __float__(self) -> float:
        return self.sign * self.numerator / self.denominator

    def as_fraction(self) -> Fraction:
        """Returns the exact value, in lowest terms."""
        return Fraction(self.sign * self.numerator, self.denominator)


ONE = Weight(1, 1, 1)


@dataclass(frozen=True)
class Unit:
    """One unit: how it combines its inputs (`type`), and what is applied to the result (`bias`, `activation`)."""

    activation: str = "linear"
    type: str = "sum"
    bias: Weight | None = None


@dataclass(frozen=True)
class Edge:
    """A connection from unit `source` to unit `target`, within a step or (recurrent) to the next step."""

    source: int
    target: int
    weight: Weight = ONE
    recurrent: bool = False

    @property
    def order(self) -> tuple[int, bool, int]:
        """The sort key of edges in a network, which is also the order of summation."""
        return (self.target, self.recurrent, self.source)

    def __str__(self) -> str:
        return f"{self.source} -> {self.target}"


@dataclass(frozen=True)
class Network:
    """Symbols, units and edges. Edges may be given in any order and are kept sorted, so equal networks are equal."""

    symbols: tuple[str, ...]
    units: tuple[Unit, ...]
    edges: tuple[Edge, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "symbols", tuple(self.symbols))
        object.__setattr__(self, "units", tuple(self.units))
        object.__setattr__(self, "edges", tuple(sorted(self.edges, key=lambda edge: edge.order)))
        _check_units(self)
        _check_edges(self)

    @property
    def num_symbols(self) -> int:
        """Size of the alphabet, which is also the number of inputs and of outputs."""
        return len(self.symbols)

    @property
    def inputs(self) -> range:
        """Numbers of the input units."""
        return range(self.num_symbols)

    @property
    def outputs(self) -> range:
        """Numbers of the output units."""
        return range(self.num_symbols, 2 * self.num_symbols)

    @property
    def hidden(self) -> range:
        """Numbers of the hidden units."""
        return range(2 * self.num_symbols, len(self.units))

    @cached_property
    def incoming(self) -> tuple[tuple[Edge, ...], ...]:
        """For each unit, the edges into it in the order of summation."""
        lists: list[list[Edge]] = [[] for _ in self.units]
        for edge in self.edges:
            lists[edge.target].append(edge)
        return tuple(tuple(edges) for edges in lists)

    @cached_property
    def topological_order(self) -> tuple[int, ...]:
        """All units, each after the sources of its forward edges; ties by number."""
        order, cycle = _sort(len(self.units), [e for e in self.edges if not e.recurrent])
        assert not cycle  # __post_init__ raises an error for cycles
        return tuple(order)

    def name(self, unit: int) -> str:
        """Returns the readable name of a unit: `input a`, `output a` or `hidden 6`."""
        if unit < self.num_symbols:
            return f"input {self.symbols[unit]}"
        if unit < 2 * self.num_symbols:
            return f"output {self.symbols[unit - self.num_symbols]}"
        return f"hidden {unit}"

    def symbol_id(self, symbol: str) -> int:
        """Returns the position of `symbol` in this network's alphabet."""
        if symbol not in self.symbols:
            raise unknown_name("symbol", symbol, self.symbols)
        return self.symbols.index(symbol)

    def require_symbols(self, symbols: tuple[str, ...]) -> None:
        """Raises a `UsageError` unless these symbols are this network's alphabet."""
        if tuple(symbols) != self.symbols:
            raise UsageError(
                f"The network reads {len(self.symbols)} symbols ({' '.join(self.symbols)}), the language has "
                f"{len(symbols)} ({' '.join(symbols)}). Use a network whose `symbols` are those of the language, "
                "in the same order."
            )

    def to_json(self) -> str:
        """Returns the network as JSON text, one unit or edge per line. `Network.from_json` reads it back unchanged."""
        units = []
        for number, unit in enumerate(self.units):
            record = {"unit": number, "name": self.name(number), "activation": unit.activation, "type": unit.type}
            units.append(record | ({"bias": str(unit.bias)} if unit.bias else {}))
        lines = ["{", f'  "symbols": {json.dumps(self.symbols, ensure_ascii=False)},', '  "units": [']
        lines.append(",\n".join(f"    {json.dumps(record, ensure_ascii=False)}" for record in units))
        for key, recurrent in (("forward", False), ("recurrent", True)):
            edges = [
                f"    {json.dumps({'from': e.source, 'to': e.target, 'weight': str(e.weight)})}"
                for e in self.edges
                if e.recurrent == recurrent
            ]
            lines += ["  ],", f'  "{key}": [', *([",\n".join(edges)] if edges else [])]
        return "\n".join([*lines, "  ]", "}", ""])

    @classmethod
    def from_json(cls, text: str, *, where: str = "network") -> "Network":
        """Reads the network written in `text`; errors begin with `where` and name the unit or edge at fault."""
        from humboldt.mdl._network_json import read_network

        return read_network(text, where)

    @classmethod
    def load(cls, path: str | Path) -> "Network":
        """Reads the network in a JSON file."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not text"
            raise UsageError(f"Cannot read network file {path}: {why}. Give the path of a JSON file.") from error
        return cls.from_json(text, where=str(path))


def published_networks() -> Mapping[str, Network]:
    """Returns the networks found by the search of Lan et al. (2023): `an_bn_figure_4`, printed there, and `dyck_1`.

    >>> sorted(published_networks())
    ['an_bn_figure_4', 'dyck_1']
    """
    folder = resources.files("humboldt.mdl") / "networks"
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".json")), key=lambda f: f.name)
    return {f.name.removesuffix(".json"): Network.from_json(f.read_text(encoding="utf-8"), where=f.name) for f in files}


def _check_units(network: Network) -> None:
    if not network.symbols or len(set(network.symbols)) != len(network.symbols):
        raise UsageError(f"symbols {list(network.symbols)} must be one or more different names.")
    if len(network.units) < 2 * network.num_symbols:
        raise UsageError(
            f"units: {len(network.units)} given, but {network.num_symbols} symbols need {network.num_symbols} input "
            f"and {network.num_symbols} output units. Give at least {2 * network.num_symbols} units."
        )
    for number, unit in enumerate(network.units):
        if unit.activation not in ACTIVATIONS:
            raise UsageError(f"units[{number}]: {unknown_name('activation', unit.activation, ACTIVATIONS)}")
        if unit.type not in UNIT_TYPES:
            raise UsageError(f"units[{number}]: {unknown_name('unit type', unit.type, UNIT_TYPES)}")


def _check_edges(network: Network) -> None:
    seen: set[tuple[int, bool, int]] = set()
    for edge in network.edges:
        kind = "recurrent" if edge.recurrent else "forward"
        for end in (edge.source, edge.target):
            if not 0 <= end < len(network.units):
                raise UsageError(
                    f"{kind} edge {edge}: there is no unit {end}. Units are numbered 0 to {len(network.units) - 1}."
                )
        if edge.order in seen:
            raise UsageError(f"{kind} edge {edge} is given twice. Keep one, with the sum of the weights.")
        seen.add(edge.order)
    _, cycle = _sort(len(network.units), [edge for edge in network.edges if not edge.recurrent])
    if cycle:
        path = " -> ".join(str(unit) for unit in cycle)
        raise UsageError(
            f"forward edges form a cycle: {path}. Within a step values must flow one way; "
            "make one of these edges recurrent."
        )


def _sort(num_units: int, forward: list[Edge]) -> tuple[list[int], list[int]]:
    """Returns a topological order and no cycle, or a partial order and a cycle (first unit repeated at the end)."""
    sources: list[list[int]] = [[] for _ in range(num_units)]
    for edge in forward:
        sources[edge.target].append(edge.source)
    order: list[int] = []
    done: set[int] = set()
    ready = [u for u in range(num_units) if not sources[u]]
    while ready:
        unit = ready.pop(0)
        order.append(unit)
        done.add(unit)
        ready = sorted(u for u in range(num_units) if u not in done and all(s in done for s in sources[u]))
    if len(order) == num_units:
        return order, []
    # Every remaining unit has a remaining source, so that following sources must lead to a cycle.
    walk = [next(u for u in range(num_units) if u not in done)]
    while walk[-1] not in walk[:-1]:
        walk.append(next(s for s in sources[walk[-1]] if s not in done))
    return order, walk[walk.index(walk[-1]) :][::-1]
