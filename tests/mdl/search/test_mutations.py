from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from humboldt.mdl.activations import ACTIVATIONS, PAPER_ACTIVATIONS, activation_ids
from humboldt.mdl.machine_words import pack, unpack
from humboldt.mdl.network import Edge, Network, Unit, Weight, published_networks
from humboldt.mdl.network_bits import choice_bits, encoding_length
from humboldt.mdl.search.genome_edits import coded_weight, perturbed_weight, random_weight
from humboldt.mdl.search.genome_lengths import grammar_bits, hash_genome
from humboldt.mdl.search.mutations import (
    OPERATORS,
    apply_operator,
    mutate,
    random_genome,
)
from humboldt.mdl.search.random_numbers import below, by_code_length, geometric, seed_states, uniform

from ..helpers import networks

AB = ("#", "a", "b")
MAX_UNITS, MAX_EDGES = 16, 40


class Genome:
    """A genome with room to change in."""

    def __init__(self, network: Network) -> None:
        self.symbols = network.symbols
        self.units, self.edges = pack(network, MAX_UNITS, MAX_EDGES)
        self.sizes = np.array([len(network.units), len(network.edges)])

    def network(self) -> Network:
        return unpack(self.units[: self.sizes[0]], self.edges[: self.sizes[1]], self.symbols)

    def apply(self, rng, name: str, allowed=PAPER_ACTIVATIONS, allow_product: bool = False) -> bool:
        return apply_operator(
            rng, OPERATORS.index(name), self.units, self.edges, self.sizes, len(self.symbols),
            activation_ids(allowed), allow_product,
        )  # fmt: skip


def changed(network: Network, name: str, seed: int = 0, **keywords) -> Network | None:
    genome = Genome(network)
    before = genome.network()
    applied = genome.apply(seed_states(seed, 1)[0], name, **keywords)
    after = genome.network()
    if not applied:
        assert after == before
        return None
    return after


FIGURE_4 = published_networks()["an_bn_figure_4"]


@settings(max_examples=200, deadline=None)
@given(networks())
def test_words_give_the_network_back(network):
    units, edges = pack(network)
    assert unpack(units, edges, network.symbols) == network
    assert np.all(np.diff(edges) > 0)  # sorted as numbers: the order of summation


@settings(max_examples=80, deadline=None)  # each with thirty mutations
@given(networks(any_edges=False), st.integers(0, 2**32), st.booleans())
def test_mutants_are_valid_networks_with_the_right_code_length(network, seed, allow_product):
    rng = seed_states(seed, 1)[0]
    genome = Genome(network)
    allowed = activation_ids(ACTIVATIONS)
    cumulative = np.cumsum(np.ones(len(OPERATORS)))
    degrees = np.zeros(MAX_UNITS, np.int64)
    for _ in range(30):
        mutate(rng, genome.units, genome.edges, genome.sizes, 3, allowed, allow_product, cumulative)
        mutant = genome.network()  # refuses cycles, double edges and missing units
        assert all(edge.target >= 3 for edge in mutant.edges)  # nothing flows into an input
        assert not any(3 <= edge.source < 6 for edge in mutant.edges)  # or out of an output
        assert all(mutant.units[u] == network.units[u] for u in range(3))
        assert len(genome.edges[: genome.sizes[1]]) == len(mutant.edges)
        assert np.all(np.diff(genome.edges[: genome.sizes[1]]) > 0)
        bits = grammar_bits(genome.units, genome.edges, genome.sizes, degrees, choice_bits(len(ACTIVATIONS)))
        assert bits == encoding_length(mutant, ACTIVATIONS)


def test_add_unit_splits_an_edge():
    network = Network(AB, (Unit(),) * 6, (Edge(1, 4, Weight.parse("-2/3"), recurrent=True),))
    after = changed(network, "add_unit")
    assert after is not None
    assert after.edges == (Edge(6, 4), Edge(1, 6, Weight.parse("-2/3"), recurrent=True))
    assert after.units[6].bias is None


def test_remove_unit_joins_its_sources_to_its_targets():
    # 1 -> 6 -> 4 forward joins to a forward edge, 1 -> 6 => 5 to a recurrent one; weights of the first edge
    half, three = Weight.parse("1/2"), Weight.parse("3")
    edges = (Edge(1, 6, half), Edge(6, 4, three), Edge(6, 5, three, recurrent=True), Edge(6, 6, recurrent=True))
    after = changed(Network(AB, (Unit(),) * 7, edges), "remove_unit")
    assert after is not None
    assert set(after.edges) == {Edge(1, 4, half), Edge(1, 5, half, recurrent=True)}
    assert len(after.units) == 6


def test_remove_unit_keeps_an_edge_that_is_there_and_renumbers_the_last_unit():
    one, two = Weight.parse("1"), Weight.parse("2")
    units = (*[Unit()] * 6, Unit("relu"), Unit("tanh"))
    edges = (Edge(1, 6, two), Edge(6, 4, two), Edge(1, 4, one), Edge(7, 5), Edge(2, 7))
    network = Network(AB, units, edges)
    outcomes = {changed(network, "remove_unit", seed=seed) for seed in range(20)}
    without_6 = Network(AB, (*[Unit()] * 6, Unit("tanh")), (Edge(1, 4, one), Edge(6, 5), Edge(2, 6)))
    without_7 = Network(AB, units[:7], (Edge(1, 6, two), Edge(6, 4, two), Edge(1, 4, one), Edge(2, 5)))
    assert outcomes == {without_6, without_7}


def test_add_memory_adds_a_unit_that_keeps_its_value():
    for seed in range(50):
        after = changed(FIGURE_4, "add_memory", seed=seed)
        assert after is not None
        assert Edge(7, 7, recurrent=True) in after.edges
        assert any(edge.source == 7 and edge.target != 7 for edge in after.edges)
        assert set(FIGURE_4.edges) < set(after.edges)


@pytest.mark.parametrize("name", ["change_activation", "change_type", "add_bias", "remove_bias"])
def test_unit_changes_touch_one_unit_and_no_edge(name):
    for seed in range(30):
        after = changed(FIGURE_4, name, seed=seed, allow_product=True)
        assert after is not None
        assert after.edges == FIGURE_4.edges
        differences = [u for u in range(7) if after.units[u] != FIGURE_4.units[u]]
        assert len(differences) == 1
        assert differences[0] >= 3


@pytest.mark.parametrize(
    "name", ["perturb_weight", "replace_weight", "rewire_edge", "flip_edge", "remove_edge", "add_edge"]
)
def test_edge_changes_touch_at_most_one_edge_or_bias(name):
    happened = 0
    for seed in range(60):
        after = changed(FIGURE_4, name, seed=seed)
        if after is None:
            continue
        happened += after != FIGURE_4
        lost, gained = set(FIGURE_4.edges) - set(after.edges), set(after.edges) - set(FIGURE_4.edges)
        assert len(lost) <= 1
        assert len(gained) <= 1
        assert name in ("perturb_weight", "replace_weight") or after.units == FIGURE_4.units
        if name == "add_edge":
            assert (len(lost), len(gained)) == (0, 1)
        if name == "remove_edge":
            assert (len(lost), len(gained)) == (1, 0)
    assert happened > 10


def test_operators_that_do_not_apply_change_nothing():
    empty = Network(AB, (Unit(),) * 6, ())
    for name in ("add_unit", "remove_unit", "remove_edge", "remove_bias", "perturb_weight", "rewire_edge", "flip_edge"):
        assert changed(empty, name) is None
    assert changed(empty, "change_type") is None  # multiplication units are not allowed here
    assert changed(empty, "change_activation", allowed=("linear",)) is None


def test_weights_are_drawn_and_perturbed_as_in_the_reference():
    rng = seed_states(5, 1)[0]
    draws = Counter(int(geometric(rng)) for _ in range(40_000))
    for value in (1, 2, 3, 4):
        assert draws[value] / 40_000 == pytest.approx(0.5**value, abs=0.01)
    signs = sum(int(random_weight(rng)) >> 40 & 1 for _ in range(10_000))
    assert signs / 10_000 == pytest.approx(0.5, abs=0.02)
    # 1/2: the sign flips with weight 1 - 1/2 against 1 each for numerator and denominator; 1 can only rise
    word = (1 << 20) | 2
    outcomes = Counter(int(perturbed_weight(rng, word)) for _ in range(25_000))
    assert set(outcomes) == {word | 1 << 40, (2 << 20) | 2, (1 << 20) | 1, (1 << 20) | 3}
    assert outcomes[word | 1 << 40] / 25_000 == pytest.approx(0.2, abs=0.01)
    assert outcomes[(2 << 20) | 2] / 25_000 == pytest.approx(0.4, abs=0.015)


def test_new_weights_are_as_likely_as_their_code_is_short():
    rng = seed_states(6, 1)[0]
    draws = Counter(int(by_code_length(rng)) for _ in range(40_000))
    for low, high in ((1, 1), (2, 3), (4, 7), (8, 15)):
        share = sum(draws[value] for value in range(low, high + 1)) / 40_000
        assert share == pytest.approx(0.5 ** low.bit_length(), abs=0.01)
    assert draws[4] / 40_000 == pytest.approx(draws[7] / 40_000, abs=0.01)
    weights = [int(coded_weight(rng)) for _ in range(1000)]
    assert {word >> 40 for word in weights} == {0, 1}
    assert all(word & 0xFFFFF and (word >> 20) & 0xFFFFF for word in weights)


def test_starting_networks_read_one_input_per_output():
    rng = seed_states(1, 1)[0]
    seen = set()
    for _ in range(50):
        genome = Genome(FIGURE_4)
        random_genome(rng, genome.units, genome.edges, genome.sizes, 3, activation_ids(PAPER_ACTIVATIONS))
        network = genome.network()
        assert [edge.target for edge in network.edges] == [3, 4, 5]
        assert all(edge.source < 3 and not edge.recurrent for edge in network.edges)
        assert len(network.units) == 6
        assert all(unit.bias is None for unit in network.units)
        seen.add(network)
    assert len(seen) > 40


def test_random_numbers():
    one, other = seed_states(7, 2)
    again = seed_states(7, 5)
    assert one == again[0]
    assert one != other
    draws = [uniform(one) for _ in range(10_000)]
    assert 0 <= min(draws) < 0.01
    assert 0.99 < max(draws) < 1
    assert np.mean(draws) == pytest.approx(0.5, abs=0.02)
    assert Counter(int(below(one, 3)) for _ in range(9000)).keys() == {0, 1, 2}


def test_hashes_differ_for_different_genomes():
    rng = seed_states(3, 1)[0]
    networks_seen, hashes = set(), set()
    for _ in range(300):
        genome = Genome(FIGURE_4)
        genome.apply(rng, "perturb_weight")
        genome.apply(rng, "add_edge")
        networks_seen.add(genome.network())
        hashes.add(hash_genome(genome.units, genome.edges, genome.sizes))
    assert len(hashes) == len(networks_seen) > 200
