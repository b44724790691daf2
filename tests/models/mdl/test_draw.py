import re
from xml.etree import ElementTree

from hypothesis import given, settings

from humboldt.models.mdl.draw import to_dot, to_svg
from humboldt.models.mdl.network import published_networks

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


def test_symbols_are_escaped():
    dyck = published_networks()["dyck_1"]
    odd = type(dyck)(("#", "<&>", '"'), dyck.units, dyck.edges)
    assert "P(<&>)" in {span.text for span in ElementTree.fromstring(to_svg(odd)).iter(f"{SVG}tspan")}
    assert '"P(\\")' in to_dot(odd)
