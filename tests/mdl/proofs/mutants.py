"""Right networks, and random small changes of them."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from humboldt.errors import UsageError
from humboldt.mdl.corpus_bits import step_slow as step_slow  # the suite's own evaluation, for the other tests
from humboldt.mdl.proofs.network import Edge, Network, Unit, Weight, published_networks

FOLDER = Path(__file__).parents[3] / "reproductions" / "bliss" / "mdlrnn"
RIGHT = {
    "an_bn": (
        "an_bn_100_paper_seed_100",
        "an_bn_100_paper_seed_101",
        "an_bn_100_paper_seed_102",
        "an_bn_100_paper_seed_103",
        "an_bn_100_wide_seed_2",
        "an_bn_figure_4",
    ),
    "an_bn_cn": ("an_bn_cn_100_paper_seed_100", "an_bn_cn_100_wide_seed_15", "hand_built/an_bn_cn"),
    "an_bn_cn_dn": ("hand_built/an_bn_cn_dn",),
    "an_bm_cn_plus_m": (
        "an_bm_cn_plus_m_250_paper_seed_100",
        "an_bm_cn_plus_m_250_paper_seed_101",
        "hand_built/an_bm_cn_plus_m",
    ),
    "dyck_1": (
        "dyck_1_100_paper_seed_100",
        "dyck_1_100_wide_seed_100",
        "dyck_1_500_paper_seed_100",
        "dyck_1_500_paper_seed_101",
        "dyck_1_500_paper_seed_102",
        "dyck_1",
    ),
}
ACTIVATIONS = ("linear", "relu", "tanh", "sigmoid", "square", "floor", "step", "modulo_2", "modulo_3")
TERMS = (1, 1, 1, 2, 2, 3, 4, 5, 7, 10, 31)


def load(name: str) -> Network:
    """A committed or published network."""
    return published_networks()[name] if name in published_networks() else Network.load(FOLDER / f"{name}.json")


def mutant(network: Network, rng: np.random.Generator) -> Network:
    """The network after one to three random changes."""
    for _ in range(int(rng.integers(1, 4))):
        network = _changed(network, rng)
    return network


def _changed(network: Network, rng: np.random.Generator) -> Network:
    while True:
        try:
            return CHANGES[int(rng.integers(len(CHANGES)))](network, rng)
        except UsageError:  # a cycle, or an edge that is there already
            continue


def _weight(rng: np.random.Generator) -> Weight:
    numerator, denominator = (TERMS[int(rng.integers(len(TERMS)))] for _ in range(2))
    return Weight(1 if rng.random() < 0.5 else -1, numerator, denominator if rng.random() < 0.4 else 1)


def _pick(rng: np.random.Generator, size: int) -> int:
    return int(rng.integers(size))


def _reweighted(network: Network, rng: np.random.Generator) -> Network:
    edges = list(network.edges)
    place = _pick(rng, len(edges))
    edges[place] = replace(edges[place], weight=_weight(rng))
    return replace(network, edges=tuple(edges))


def _more_edges(network: Network, rng: np.random.Generator) -> Network:
    source, target = (_pick(rng, len(network.units)) for _ in range(2))
    edge = Edge(source, target, _weight(rng), recurrent=bool(rng.random() < 0.5))
    return replace(network, edges=(*network.edges, edge))


def _fewer_edges(network: Network, rng: np.random.Generator) -> Network:
    if len(network.edges) == 1:
        return network
    place = _pick(rng, len(network.edges))
    return replace(network, edges=network.edges[:place] + network.edges[place + 1 :])


def _other_unit(network: Network, rng: np.random.Generator) -> Network:
    units = list(network.units)
    place = _pick(rng, len(units))
    change = rng.random()
    if change < 0.4:
        units[place] = replace(units[place], activation=ACTIVATIONS[_pick(rng, len(ACTIVATIONS))])
    elif change < 0.9:
        units[place] = replace(units[place], bias=_weight(rng) if rng.random() < 0.7 else None)
    else:
        units[place] = replace(units[place], type="product" if units[place].type == "sum" else "sum")
    return replace(network, units=tuple(units))


def _more_units(network: Network, rng: np.random.Generator) -> Network:
    """A new unit with an edge in, an edge out and, often, a memory."""
    new, old = len(network.units), len(network.units)
    unit = Unit(ACTIVATIONS[_pick(rng, len(ACTIVATIONS))], "sum", _weight(rng) if rng.random() < 0.3 else None)
    edges = [
        Edge(_pick(rng, old), new, _weight(rng), recurrent=bool(rng.random() < 0.3)),
        Edge(new, _pick(rng, old), _weight(rng), recurrent=bool(rng.random() < 0.3)),
    ]
    if rng.random() < 0.5:
        edges.append(Edge(new, new, Weight(1, 1, 1) if rng.random() < 0.6 else _weight(rng), recurrent=True))
    return replace(network, units=(*network.units, unit), edges=(*network.edges, *edges))


CHANGES = (_reweighted, _reweighted, _more_edges, _fewer_edges, _other_unit, _more_units)


def random_network(rng: np.random.Generator, num_symbols: int = 3) -> Network:
    """Any network, with edges into inputs and out of outputs, and weights that floats hold exactly."""
    units = [Unit() for _ in range(2 * num_symbols + _pick(rng, 4))]
    network = Network(("#", "a", "b", "c")[:num_symbols], tuple(units), (Edge(0, num_symbols),))
    for _ in range(_pick(rng, 14)):
        network = _changed(network, rng)
    edges = tuple(replace(edge, weight=_dyadic(edge.weight)) for edge in network.edges)
    units = tuple(replace(unit, bias=unit.bias and _dyadic(unit.bias)) for unit in network.units)
    return Network(network.symbols, units, edges)


def _dyadic(weight: Weight) -> Weight:
    return Weight(weight.sign, weight.numerator, 2 ** (weight.denominator % 3))
