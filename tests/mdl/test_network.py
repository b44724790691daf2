import json

import pytest
from hypothesis import given, settings

from humboldt.errors import UsageError
from humboldt.mdl.network import Edge, Network, Unit, Weight, published_networks

from .helpers import networks


def two_symbols(edges: tuple[Edge, ...], hidden: int = 3) -> Network:
    return Network(("#", "a"), (Unit(),) * (4 + hidden), edges)


@pytest.mark.parametrize(
    ("text", "weight", "value"),
    [("3", Weight(1, 3, 1), 3.0), ("-1/2", Weight(-1, 1, 2), -0.5), ("+2/2", Weight(1, 2, 2), 1.0)],
)
def test_weight_reads_and_writes_fractions(text, weight, value):
    assert Weight.parse(text) == weight
    assert Weight.parse(str(weight)) == weight
    assert float(weight) == value


def test_a_weight_is_kept_as_written():
    assert Weight(1, 2, 2) != Weight(1, 1, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1/0", "denominator is 0"),
        ("0", "numerator is 0"),
        ("1/2/3", "not a fraction"),
        ("a", "not a fraction"),
        ("--1", "not a fraction"),
        ("1.5", "not a fraction"),
        ("", "not a fraction"),
        (3, "not text"),
    ],
)
def test_wrong_weights_are_refused(text, message):
    with pytest.raises(UsageError, match=message):
        Weight.parse(text)


def test_equal_networks_are_equal_whatever_the_order_of_edges():
    edges = (Edge(0, 4), Edge(4, 2, Weight(-1, 1, 2)), Edge(4, 4, recurrent=True))
    one, other = two_symbols(edges), two_symbols(edges[::-1])
    assert one == other
    assert hash(one) == hash(other)
    assert len({one, other, two_symbols(edges[:2])}) == 2


def test_topological_order_puts_sources_first():
    network = two_symbols((Edge(5, 4), Edge(4, 6), Edge(6, 2), Edge(1, 5), Edge(2, 5, recurrent=True)))
    order = network.topological_order
    assert sorted(order) == list(range(7))
    assert [unit for unit in order if unit in (1, 5, 4, 6, 2)] == [1, 5, 4, 6, 2]


@settings(max_examples=100, deadline=None)
@given(networks())
def test_json_gives_the_network_back(network):
    assert Network.from_json(network.to_json()) == network


def test_published_networks_are_written_as_they_would_be_saved():
    for network in published_networks().values():
        assert json.loads(network.to_json()) == json.loads(Network.from_json(network.to_json()).to_json())


def broken(change) -> str:
    data = json.loads(published_networks()["dyck_1"].to_json())
    change(data)
    return json.dumps(data)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["forward"].append({"from": 3, "to": 6, "weight": "1"}), r"cycle: 3 -> 6 -> 3\."),
        (lambda d: d["forward"].append({"from": 4, "to": 4, "weight": "1"}), r"cycle: 4 -> 4\."),
        (
            lambda d: d["recurrent"].append({"from": 9, "to": 6, "weight": "1"}),
            r"recurrent edge 9 -> 6: there is no unit 9",
        ),
        (lambda d: d["units"].pop(3), r"units\[3\]: is numbered 4"),
        (lambda d: d.update(units=d["units"][:5]), r"units: 5 given, but 3 symbols need 3 input and 3 output"),
        (lambda d: d["forward"][1].update(weight="1/0"), r"forward\[1\]: weight denominator is 0"),
        (lambda d: d["units"][4].update(bias="x"), r"units\[4\]: weight 'x' is not a fraction"),
        (
            lambda d: d["units"][5].update(activation="tahn"),
            r"units\[5\]: No activation named 'tahn'. Did you mean 'tanh'",
        ),
        (lambda d: d["units"][5].update(type="mean"), r"units\[5\]: No unit type named 'mean'"),
        (lambda d: d["forward"].append(d["forward"][0]), r"forward edge 6 -> 3 is given twice"),
        (lambda d: d["forward"][0].update(to="3"), r"forward\[0\]: `to` is '3'"),
        (lambda d: d["forward"][0].pop("from"), r"forward\[0\]: `from` is missing"),
        (lambda d: d["forward"][0].update(wieght="1"), r"forward\[0\]: `wieght` is not a known key"),
        (lambda d: d.pop("recurrent"), r"`recurrent` is missing"),
        (lambda d: d.update(symbols=["#", "(", "("]), r"symbols .* different names"),
        (lambda d: d.update(symbols=["#", "(", 3]), r"must all be text"),
        (lambda d: d.update(forward={}), r"`forward` must be a list"),
    ],
)
def test_errors_in_a_file_name_the_place(change, message):
    with pytest.raises(UsageError, match=r"^dyck\.json: .*" + message):
        Network.from_json(broken(change), where="dyck.json")


def test_text_that_is_not_json_and_missing_files_are_refused(tmp_path):
    with pytest.raises(UsageError, match=r"net\.json: not JSON \(.*line 1"):
        Network.from_json("{", where="net.json")
    with pytest.raises(UsageError, match="Cannot read network file"):
        Network.load(tmp_path / "none.json")


def test_a_network_file_is_loaded(tmp_path):
    network = published_networks()["dyck_1"]
    (tmp_path / "net.json").write_text(network.to_json(), encoding="utf-8")
    assert Network.load(tmp_path / "net.json") == network
