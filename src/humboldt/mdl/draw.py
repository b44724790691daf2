"""Draws a network as Graphviz DOT text, or as an SVG file without any further program.

Inputs are on the left, outputs on the right, hidden units between them by their depth. Units are labelled with their
activation and bias, edges with their weight; recurrent edges are dashed, as in Figure 4 of Lan et al. (2023).
"""

from collections.abc import Iterator
from html import escape
from math import hypot, inf

from humboldt.mdl.network import Edge, Network

_COLUMN, _ROW, _MARGIN, _RADIUS = 190, 104, 80, 30
_FILL = {"input": "#fbe3a1", "hidden": "#e2d8f0", "output": "#bcdcf5"}
_SHORT = {"modulo_2": "mod 2", "modulo_3": "mod 3"}

Point = tuple[float, float]


def _role(network: Network, unit: int) -> str:
    return "input" if unit in network.inputs else "output" if unit in network.outputs else "hidden"


def _title(network: Network, unit: int) -> str:
    role = _role(network, unit)
    if role == "input":
        return network.symbols[unit]
    return f"P({network.symbols[unit - network.num_symbols]})" if role == "output" else str(unit)


def _lines(network: Network, unit: int) -> list[str]:
    """Returns the label of a unit: its name, its activation, its bias."""
    described = network.units[unit]
    plain_input = unit in network.inputs and described.activation == "linear" and described.type == "sum"
    lines = [_title(network, unit)]
    if not plain_input:
        sign = "× " if described.type == "product" else ""
        lines.append(sign + _SHORT.get(described.activation, described.activation))
    if described.bias:
        lines.append(f"bias {described.bias}")
    return lines


def to_dot(network: Network) -> str:
    """Returns the network as Graphviz text (`dot -Tsvg`)."""

    def quote(text: str) -> str:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'

    lines = ["digraph network {", "  rankdir=LR;", '  node [shape=circle, style=filled, fontname="sans-serif"];']
    for unit in range(len(network.units)):
        label = quote("\n".join(_lines(network, unit)))
        lines.append(f'  {unit} [label={label}, fillcolor="{_FILL[_role(network, unit)]}"];')
    for name, units in (("min", network.inputs), ("max", network.outputs)):
        lines.append(f"  {{rank={name}; {' '.join(f'{unit};' for unit in units)}}}")
    for edge in network.edges:
        style = ", style=dashed" if edge.recurrent else ""
        lines.append(f"  {edge.source} -> {edge.target} [label={quote(str(edge.weight))}{style}];")
    return "\n".join([*lines, "}", ""])


def _places(network: Network) -> dict[int, Point]:
    """Returns the position of each unit: columns by depth, inputs first, outputs last."""
    depth = dict.fromkeys(network.inputs, 0)
    for unit in network.topological_order:
        if unit in network.hidden:
            forward = [depth.get(e.source, 0) for e in network.incoming[unit] if not e.recurrent]
            depth[unit] = 1 + max(forward, default=0)
    last = 1 + max((depth[unit] for unit in network.hidden), default=0)
    depth |= dict.fromkeys(network.outputs, last)
    columns: dict[int, list[int]] = {}
    for unit in range(len(network.units)):
        columns.setdefault(depth[unit], []).append(unit)
    tallest = max(len(units) for units in columns.values())
    return {
        unit: (_MARGIN + column * _COLUMN, _MARGIN + (row + (tallest - len(units)) / 2) * _ROW)
        for column, units in columns.items()
        for row, unit in enumerate(units)
    }


def _loop(x: float, y: float) -> tuple[str, Point]:
    """Returns the path of an edge from a unit to itself, above it, and the position of its label."""
    top = y - _RADIUS
    path = f"M {x - 12:.1f} {top + 3:.1f} C {x - 40:.1f} {top - 44:.1f}, {x + 40:.1f} {top - 44:.1f}, "
    return path + f"{x + 13:.1f} {top + 1:.1f}", (x, top - 36)


class _Curve:
    """An edge between two units as a quadratic curve whose middle is displaced by `bend`."""

    def __init__(self, start: Point, goal: Point, bend: float) -> None:
        length = hypot(goal[0] - start[0], goal[1] - start[1])
        across = (-(goal[1] - start[1]) / length, (goal[0] - start[0]) / length)
        self.middle = ((start[0] + goal[0]) / 2 + across[0] * bend, (start[1] + goal[1]) / 2 + across[1] * bend)
        self.begin = self._towards(start, self.middle, _RADIUS)
        self.end = self._towards(goal, self.middle, _RADIUS + 3)

    @staticmethod
    def _towards(start: Point, goal: Point, distance: float) -> Point:
        d = hypot(goal[0] - start[0], goal[1] - start[1])
        return start[0] + (goal[0] - start[0]) * distance / d, start[1] + (goal[1] - start[1]) * distance / d

    def at(self, t: float) -> Point:
        """Returns the point at parameter `t` between 0 and 1."""
        x, y = ((1 - t) ** 2 * self.begin[i] + 2 * t * (1 - t) * self.middle[i] + t**2 * self.end[i] for i in (0, 1))
        return x, y

    def room(self, others: list[Point]) -> float:
        """Returns the distance of the curve to the nearest of these points."""
        way = [self.at(t / 24) for t in range(25)]
        return min((_distance(point, other) for point in way for other in others), default=inf)

    @property
    def path(self) -> str:
        """The path in SVG's notation."""
        points = (*self.begin, *self.middle, *self.end)
        return "M {:.1f} {:.1f} Q {:.1f} {:.1f} {:.1f} {:.1f}".format(*points)


def _distance(left: Point, right: Point) -> float:
    return hypot(left[0] - right[0], left[1] - right[1])


def _draw_edges(network: Network, places: dict[int, Point], height: float) -> Iterator[tuple[Edge, str, Point]]:
    """Yields each edge with its path and the position of its label. Paths avoid other units; labels do not overlap."""
    labels: list[Point] = []
    taken: set[tuple[int, int, float]] = set()
    for edge in network.edges:
        if edge.source == edge.target:
            path, label = _loop(*places[edge.source])
        else:
            others = [place for unit, place in places.items() if unit not in (edge.source, edge.target)]
            # Forward edges are nearly straight, recurrent edges leave the straight line to them; each is bent as far
            # as necessary.
            bends = (-46, 46, -84, 84, -130, 130, -190, 190) if edge.recurrent else (12, -12, 46, -46, 84, -84, 130)
            curves = [
                (bend, _Curve(places[edge.source], places[edge.target], bend))
                for bend in bends
                if (edge.source, edge.target, bend) not in taken
            ]
            inside = [(bend, curve) for bend, curve in curves if 12 <= curve.at(0.5)[1] <= height - 12] or curves
            bend, curve = next(
                (pair for pair in inside if pair[1].room(others) > _RADIUS + 6),
                max(inside, key=lambda pair: pair[1].room(others)),
            )
            taken.add((edge.source, edge.target, bend))
            path = curve.path
            # About a third of the way along, where edges into one unit have not met yet, unless there is no room.
            along = [curve.at(t) for t in (0.38, 0.3, 0.46, 0.24, 0.54, 0.62, 0.18, 0.7)]
            crowd = [*labels, *places.values()]
            label = next(
                (
                    spot
                    for spot in along
                    if min((_distance(spot, other) for other in labels), default=inf) > 22
                    and min(_distance(spot, place) for place in places.values()) > _RADIUS + 12
                ),
                max(along, key=lambda spot: min(_distance(spot, other) for other in crowd)),
            )
        labels.append(label)
        yield edge, path, label


def to_svg(network: Network) -> str:
    """Returns the network as a complete SVG file."""
    places = _places(network)
    width = max(x for x, _ in places.values()) + _MARGIN
    height = max(y for _, y in places.values()) + _MARGIN
    bold = ' font-weight="bold"'
    edges, labels, circles = [], [], []
    for edge, path, (x, y) in _draw_edges(network, places, height):
        dashes = ' stroke-dasharray="6 4"' if edge.recurrent else ""
        edges.append(f'<path class="edge" d="{path}"{dashes} marker-end="url(#arrow)"/>')
        labels.append(f'<text class="weight" x="{x:.1f}" y="{y:.1f}">{escape(str(edge.weight))}</text>')
    for unit, (x, y) in places.items():
        lines = _lines(network, unit)
        first = y - 6.5 * (len(lines) - 1)
        text = "".join(
            f'<tspan x="{x:.1f}" y="{first + 13 * row:.1f}"{bold if row == 0 else ""}>{escape(line)}</tspan>'
            for row, line in enumerate(lines)
        )
        fill = _FILL[_role(network, unit)]
        circles.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS}" fill="{fill}" stroke="#333"/>')
        circles.append(f'<text class="unit">{text}</text>')
    style = (
        "text{font-family:sans-serif;text-anchor:middle;dominant-baseline:central;fill:#111}"
        ".unit{font-size:11px}.weight{font-size:12px;paint-order:stroke;stroke:#fff;stroke-width:4px}"
        ".edge{fill:none;stroke:#444;stroke-width:1.3}"
    )
    arrow = (
        '<marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
        'orient="auto-start-reverse"><path d="M 0 0 L 10 5 L 0 10 z" fill="#444"/></marker>'
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
            f'width="{width:.0f}" height="{height:.0f}" role="img" aria-label="recurrent network">',
            f"<style>{style}</style><defs>{arrow}</defs>",
            '<rect width="100%" height="100%" fill="#fff"/>',
            *edges,
            *circles,
            *labels,
            "</svg>",
            "",
        ]
    )
