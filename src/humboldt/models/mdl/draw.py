"""Drawings of a network: Graphviz DOT text, and an SVG that needs nothing to be drawn.

Inputs stand on the left, outputs on the right, hidden units between them by their depth. Units show their activation
and bias, edges their weight; recurrent edges are dashed, as in Figure 4 of Lan et al. (2023).
"""

from html import escape
from math import hypot

from humboldt.models.mdl.network import Edge, Network

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
    """What is written in a unit: its name, what it does, its bias."""
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
    """The network as Graphviz text (`dot -Tsvg`)."""

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
    """Where each unit stands: columns by depth, inputs first, outputs last."""
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


def _curve(edge: Edge, places: dict[int, Point], bend: float) -> tuple[str, Point]:
    """Path of an edge, and where its label goes."""
    (x1, y1), (x2, y2) = places[edge.source], places[edge.target]
    if edge.source == edge.target:
        r = _RADIUS
        path = f"M {x1 - 12:.1f} {y1 - r + 3:.1f} C {x1 - 40:.1f} {y1 - r - 44:.1f}, {x1 + 40:.1f} {y1 - r - 44:.1f}, "
        return path + f"{x1 + 13:.1f} {y1 - r + 1:.1f}", (x1, y1 - r - 36)
    length = hypot(x2 - x1, y2 - y1)
    across = (-(y2 - y1) / length, (x2 - x1) / length)
    middle = ((x1 + x2) / 2 + across[0] * bend, (y1 + y2) / 2 + across[1] * bend)

    def towards(start: Point, goal: Point, distance: float) -> Point:
        d = hypot(goal[0] - start[0], goal[1] - start[1])
        return start[0] + (goal[0] - start[0]) * distance / d, start[1] + (goal[1] - start[1]) * distance / d

    begin, end = towards((x1, y1), middle, _RADIUS), towards((x2, y2), middle, _RADIUS + 3)
    path = f"M {begin[0]:.1f} {begin[1]:.1f} Q {middle[0]:.1f} {middle[1]:.1f} {end[0]:.1f} {end[1]:.1f}"
    # A third of the way along, where edges into one unit have not met yet.
    t = 0.38
    label = tuple((1 - t) ** 2 * begin[i] + 2 * t * (1 - t) * middle[i] + t**2 * end[i] for i in (0, 1))
    return path, (label[0], label[1])


def to_svg(network: Network) -> str:
    """The network as a complete SVG file."""
    places = _places(network)
    width = max(x for x, _ in places.values()) + _MARGIN
    height = max(y for _, y in places.values()) + _MARGIN
    bold = ' font-weight="bold"'
    edges, labels, circles = [], [], []
    for edge in network.edges:
        # Forward and recurrent edges between the same units bend apart; recurrent ones leave the straight line to
        # the forward ones.
        path, (x, y) = _curve(edge, places, -46 if edge.recurrent else 12)
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
