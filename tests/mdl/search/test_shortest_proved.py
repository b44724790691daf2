"""The shortest network that is proved, kept beside the shortest one."""

from pathlib import Path

import numpy as np
import pytest

from humboldt.errors import Interrupted
from humboldt.mdl import PAPER_ACTIVATIONS, description_length, published_networks
from humboldt.mdl.machine_words import pack
from humboldt.mdl.proofs import Proved, prove
from humboldt.mdl.search import SearchSettings, SearchState, ShortestProved, search, start
from humboldt.mdl.search.shortest_proved import is_wrong_far_out
from humboldt.storage.checkpoints import Checkpoints

from ..helpers import an_bn_grammar, sample, trie_of
from ..proofs.mutants import load

SYMBOLS = ("#", "a", "b")
TRIE = trie_of(sample(an_bn_grammar(), 100), SYMBOLS)
SMALL = SearchSettings(population_size=20, pressures=(0.2, 1.0), migration_interval=5, restart_after=20)
RIGHT = published_networks()["an_bn_figure_4"]


def keeper() -> ShortestProved:
    return ShortestProved("an_bn", SYMBOLS, TRIE, PAPER_ACTIVATIONS)


def with_member(state: SearchState, island: int, member: int, data_bits: float) -> SearchState:
    """The state with a right network in it, at so many bits."""
    state.units[island, member], state.edges[island, member] = pack(RIGHT, state.units.shape[2], state.edges.shape[2])
    state.sizes[island, member] = len(RIGHT.units), len(RIGHT.edges)
    state.grammar[island, member], state.data[island, member] = 0, data_bits
    return state


@pytest.mark.parametrize(("island", "place", "found"), [(0, 0, True), (1, 2, True), (1, 3, False)])
def test_the_shortest_few_of_each_island_are_looked_at(island: int, place: int, found: bool):
    state, proved = start(TRIE, SMALL, 1), keeper()
    totals = np.sort(state.grammar[island] + state.data[island])
    assert totals[place] < totals[place + 1]
    proved.look(state)
    assert proved.network is None  # no network of the start is right
    member = 5
    state.grammar[island, member] = state.data[island, member] = 1e6
    totals = np.sort(state.grammar[island] + state.data[island])
    proved.look(with_member(state, island, member, totals[place] - 1e-9))
    assert proved.network == (RIGHT if found else None)
    if found:  # a right network, of whatever length, beside shorter ones that are wrong
        assert proved.bits == description_length(RIGHT, TRIE, PAPER_ACTIVATIONS).total


def test_what_is_kept_is_not_given_up_for_something_longer():
    state, proved = start(TRIE, SMALL, 1), keeper()
    proved.look(with_member(state, 0, 3, 0.0))
    proved.bits = -1.0  # as if it were shorter than anything
    proved.network = None
    proved.look(state)
    assert proved.network is None


@pytest.mark.parametrize(
    ("language", "network", "wrong"),
    [
        ("an_bn", "an_bn_figure_4", False),
        ("an_bn_cn", "an_bn_cn_100_paper_seed_100", False),
        ("an_bn_cn", "an_bn_cn_100_paper_seed_101", True),  # from n = 15 on
        ("an_bn_cn_dn", "hand_built/an_bn_cn_dn", False),
        ("an_bn_cn_dn", "an_bn_cn_dn_100_paper_seed_100", True),
        ("an_bm_cn_plus_m", "an_bm_cn_plus_m_250_paper_seed_100", False),
        ("an_bm_cn_plus_m", "an_bm_cn_plus_m_100_paper_seed_100", True),
        ("dyck_1", "dyck_1", False),
    ],
)
def test_what_is_wrong_far_out_is_not_tried(language: str, network: str, wrong: bool):
    assert is_wrong_far_out(load(network), language) == wrong


def run(folder: Path, **options) -> tuple[SearchState, ShortestProved]:
    proved = keeper()
    settings = SearchSettings(population_size=100)
    options = {"generations": 150, "patience": 10_000, "proved": proved, **options}
    return search(TRIE, settings, 1, checkpoints=Checkpoints(folder), **options), proved


def test_a_search_keeps_it_however_often_it_is_interrupted(tmp_path: Path):
    state, proved = run(tmp_path / "whole")
    assert proved.network is not None
    assert isinstance(prove(proved.network, "an_bn"), Proved)
    shortest = state.best_network(SYMBOLS)
    assert description_length(shortest, TRIE, PAPER_ACTIVATIONS).total <= proved.bits
    asked = iter([False, False, True])  # after 100 generations
    with pytest.raises(Interrupted):
        run(tmp_path / "parts", should_stop=lambda: next(asked))
    resumed, again = run(tmp_path / "parts")
    assert (again.network, again.bits) == (proved.network, proved.bits)
    without, _ = run(tmp_path / "without", proved=None)
    for name, array in state.to_arrays().items():
        assert np.array_equal(array, resumed.to_arrays()[name])
        assert np.array_equal(array, without.to_arrays()[name])  # looking changes nothing
