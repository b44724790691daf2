import re
from itertools import combinations
from math import hypot
from xml.etree import ElementTree

from hypothesis import given, settings

from humboldt.mdl.draw import to_dot, to_svg
from humboldt.mdl.network import Edge, Network, Unit, published_networks

from .helpers import networks

FIGURE_4 = published_networks()["an_bn_figure_4"]
SVG = "{http://www.w3.org/2000/svg}"


def test_dot_names_units_weights_and_dashes_recurrent_edges():
    dot = to_dot(FIGURE_4)
    assert '4 [label="P(a)\\nrelu\\nbias 3"' in dot
    assert '1 -> 6 [label="1/2"];' in dot
    assert '6 -> 6 [label="1", style=dashed];' in dot
    assert dot.count("->") == len(FIGURE_4.edges)
    assert dot.count("style=dashed") == 2


def test_svg_shows_every_unit_and_edge():
    root = ElementTree.fromstring(to_svg(FIGURE_4))
    assert len(root.findall(f"{SVG}circle")) == 7
    paths = root.findall(f"{SVG}path")
    assert len(paths) == 7
    assert sum("stroke-dasharray" in path.attrib for path in paths) == 2
    weights = sorted(str(text.text) for text in root.findall(f"{SVG}text") if text.get("class") == "weight")
    assert weights == sorted(str(edge.weight) for edge in FIGURE_4.edges)
    written = [span.text for span in root.iter(f"{SVG}tspan")]
    assert {"#", "P(#)", "P(a)", "relu", "tanh", "bias 3"} <= set(written)


@settings(max_examples=50, deadline=None)
@given(networks())
def test_any_network_can_be_drawn_inside_its_frame(network):
    root = ElementTree.fromstring(to_svg(network))
    width, height = float(root.get("width", "0")), float(root.get("height", "0"))
    circles = root.findall(f"{SVG}circle")
    assert len(circles) == len(network.units)
    centres = {(float(c.get("cx", "-1")), float(c.get("cy", "-1"))) for c in circles}
    assert len(centres) == len(network.units)  # no two in one place
    assert all(30 <= x <= width - 30 and 30 <= y <= height - 30 for x, y in centres)
    assert not re.search(r"\b(nan|inf)\b", to_svg(network))


def test_edges_go_round_units_and_labels_keep_apart():
    # Drawn straight, the edge from input to output would pass behind the hidden unit half way.
    units = (*[Unit()] * 6, Unit("relu"), Unit("relu"), Unit("relu"))
    edges = (Edge(1, 4), Edge(1, 7), Edge(7, 4), Edge(0, 6), Edge(2, 8), Edge(1, 4, recurrent=True))
    root = ElementTree.fromstring(to_svg(Network(("#", "a", "b"), units, edges)))
    circles = [(float(c.get("cx", "")), float(c.get("cy", ""))) for c in root.findall(f"{SVG}circle")]
    paths = [[float(n) for n in re.findall(r"-?[\d.]+", p.get("d", ""))] for p in root.findall(f"{SVG}path")]
    labels = [
        (float(t.get("x", "")), float(t.get("y", ""))) for t in root.findall(f"{SVG}text") if t.get("class") == "weight"
    ]
    for path in paths:
        begin, middle, end = path[:2], path[2:4], path[4:]
        for t in (0.3, 0.4, 0.5, 0.6, 0.7):
            x, y = ((1 - t) ** 2 * begin[i] + 2 * t * (1 - t) * middle[i] + t**2 * end[i] for i in (0, 1))
            assert all(hypot(x - cx, y - cy) > 30 for cx, cy in circles)
    assert all(hypot(a[0] - b[0], a[1] - b[1]) > 20 for a, b in combinations(labels, 2))


def test_symbols_are_escaped():
    dyck = published_networks()["dyck_1"]
    odd = type(dyck)(("#", "<&>", '"'), dyck.units, dyck.edges)
    assert "P(<&>)" in {span.text for span in ElementTree.fromstring(to_svg(odd)).iter(f"{SVG}tspan")}
    assert '"P(\\")' in to_dot(odd)
