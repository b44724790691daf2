import dataclasses
import math

import numpy as np
import pytest

from humboldt.errors import UsageError
from humboldt.mdl.corpus_bits import data_bits_slow
from humboldt.mdl.machine_words import unpack
from humboldt.mdl.network_bits import encoding_length
from humboldt.mdl.search.islands import Islands, luby, start
from humboldt.mdl.search.settings import SearchSettings
from humboldt.mdl.search.state import SearchState

from ..helpers import an_bn_grammar, sample, trie_of

AB = ("#", "a", "b")
TRIE = trie_of(sample(an_bn_grammar(), 30), AB)
SMALL = SearchSettings(population_size=40, pressures=(0.2, 1.0), num_rings=2, migration_interval=5, restart_after=20)


def run(settings: SearchSettings, generations: list[int], *, seed: int = 1, processes: int = 1) -> SearchState:
    state = start(TRIE, settings, seed)
    with Islands(TRIE, settings, processes=processes) as islands:
        for count in generations:
            islands.advance(state, count)
    return state


def same(one: SearchState, other: SearchState) -> bool:
    a, b = one.to_arrays(), other.to_arrays()
    return all(np.array_equal(a[name], b[name]) for name in a)


@pytest.mark.parametrize("settings", [SMALL, dataclasses.replace(SMALL, strict=False, keep_distinct=False)])
def test_members_carry_their_true_code_lengths(settings):
    state = run(settings, [12])
    for island in range(4):
        for member in range(0, 40, 3):
            used = state.sizes[island, member]
            network = unpack(state.units[island, member, : used[0]], state.edges[island, member, : used[1]], AB)
            assert state.grammar[island, member] == encoding_length(network)
            impossible = math.inf if state.exact[island] else settings.impossible
            assert state.data[island, member] == data_bits_slow(network, TRIE, impossible=impossible)
    assert state.exact.tolist() == [False, True] * 2


def test_the_record_is_of_networks_for_which_nothing_is_softened():
    cheap = dataclasses.replace(SMALL, impossible=1.0)
    for seed in range(1, 4):
        state = run(cheap, [17], seed=seed)
        soft = (state.grammar + state.data)[~state.exact].min()
        progress = state.progress()
        assert soft < progress.mdl  # a network that excludes nearly all would do, were it believed
        assert progress.data == data_bits_slow(state.best_network(AB), TRIE)
    assert run(dataclasses.replace(SMALL, impossible=math.inf), [5]).exact.all()


def test_the_same_seed_gives_the_same_search_and_another_seed_another():
    assert same(run(SMALL, [30]), run(SMALL, [30]))
    assert not same(run(SMALL, [30]), run(SMALL, [30], seed=2))


def test_processes_do_not_change_the_search():
    assert same(run(SMALL, [30]), run(SMALL, [30], processes=2))


def test_how_generations_are_divided_does_not_change_the_search():
    assert same(run(SMALL, [45]), run(SMALL, [3, 1, 18, 23]))


def test_a_resumed_search_equals_an_uninterrupted_one(tmp_path):
    state = run(SMALL, [33])
    np.savez(tmp_path / "state.npz", allow_pickle=False, **state.to_arrays())
    with np.load(tmp_path / "state.npz") as saved:
        resumed = SearchState.from_arrays(dict(saved))
    with Islands(TRIE, SMALL) as islands:
        islands.advance(resumed, 27)
    assert same(resumed, run(SMALL, [60]))
    with pytest.raises(UsageError, match="rng missing or unknown"):
        SearchState.from_arrays({k: v for k, v in state.to_arrays().items() if k != "rng"})


def test_the_best_never_gets_worse_and_is_reported_in_full():
    state = start(TRIE, SMALL, 3)
    progress = state.progress()
    best = progress.mdl
    with Islands(TRIE, SMALL) as islands:
        for _ in range(20):
            islands.advance(state, 4)
            progress = state.progress()
            assert progress.mdl <= best
            best = progress.mdl
    network = state.best_network(AB)
    assert progress.mdl == progress.grammar + progress.data
    assert progress.grammar == encoding_length(network)
    assert progress.data == data_bits_slow(network, TRIE)
    assert progress.networks_tried == 4 * 40 * 80
    assert f"MDL {progress.mdl:.1f} = |G| {progress.grammar:.0f} + |D:G|" in str(progress)


def test_a_stale_ring_starts_afresh_and_the_record_stays():
    settings = dataclasses.replace(SMALL, num_rings=1, restart_after=10)
    state = run(settings, [400])
    assert state.restarts[0] > 0
    living = (state.grammar + state.data).min()
    assert state.progress().mdl <= living
    assert run(dataclasses.replace(settings, restart_after=0), [400]).restarts[0] == 0


def test_lives_are_short_and_now_and_then_long():
    settings = dataclasses.replace(SMALL, num_rings=1, restart_after=10)
    state = start(TRIE, settings, 1)
    births = []
    with Islands(TRIE, settings) as islands:
        for _ in range(60):
            islands.advance(state, 5)
            births.append(int(state.born[0]))
    lives = np.diff(sorted(set(births)))
    allowed = 10 * np.array([luby(n) for n in range(1, len(lives) + 1)])
    assert len(lives) > 5 and np.all(lives <= 2 * allowed) and np.all(lives >= 10)


def test_strictness_is_exact_early_exit():
    # With strict survival an evaluation may stop early; members must still have exact lengths and all be no worse
    # than without any offspring at all.
    state = start(TRIE, SMALL, 5)
    before = np.sort(0.2 * state.grammar[0] + state.data[0])
    with Islands(TRIE, SMALL) as islands:
        islands.advance(state, 4)
    after = np.sort(0.2 * state.grammar[0] + state.data[0])
    assert np.all(after <= before)


def test_members_are_distinct():
    settings = dataclasses.replace(SMALL, migration_interval=1000)
    state = start(TRIE, settings, 1)
    with Islands(TRIE, settings) as islands:
        islands.advance(state, 40)
    lengths = np.stack([state.grammar[0], state.data[0]], axis=1)
    assert len(np.unique(lengths, axis=0)) == 40


def test_reference_settings_are_the_published_ones():
    settings = SearchSettings.reference()
    assert (settings.num_islands, settings.population_size, settings.tournament_size) == (250, 500, 2)
    assert (settings.elite_ratio, settings.migration_interval, settings.extra_mutation) == (0.001, 1000, 0.0)
    assert sum(rate > 0 for rate in settings.rates) == 9
    assert (settings.max_hidden, settings.max_edges, settings.rotate_migration) == (52, 250, True)
    state = run(dataclasses.replace(settings, pressures=(1.0, 1.0), population_size=50), [10])
    assert np.isfinite(state.progress().mdl)


def test_migrants_of_the_published_search_go_to_each_other_island_in_turn():
    """The k-th migration leads k islands further on, and after the last other island to the next one again."""
    settings = SearchSettings.reference(num_islands=4)
    settings = dataclasses.replace(settings, population_size=40, migration_interval=5, migration_ratio=0.5)
    state = start(TRIE, settings, 1)
    with Islands(TRIE, settings) as islands:
        for distance in (1, 2, 3, 1):
            for _ in range(4):
                islands.advance(state, 1)
            islands._evolve(state, 1)  # up to the migration, which is then done by itself
            state.generation[0] += 1
            before = [_genomes(state, island) for island in range(4)]
            islands._migrate(state)
            for island in range(4):
                arrived = _genomes(state, island) - before[island]
                assert arrived <= before[island - distance]
                assert arrived or before[island] == before[island - distance]


def _genomes(state: SearchState, island: int) -> set[bytes]:
    return {
        units.tobytes() + edges.tobytes() for units, edges in zip(state.units[island], state.edges[island], strict=True)
    }


def test_full_evaluations_are_those_that_no_bound_and_no_memory_spares():
    loose = dataclasses.replace(SMALL, strict=False, impossible=math.inf, restart_after=0)
    state = start(TRIE, loose, 1)
    with Islands(TRIE, loose) as islands:
        islands.advance(state, 30)
        first = islands.full_evaluations
        assert 0 < first <= state.networks_tried
        islands.forget()
        islands.reassess(state)  # each different network once
        members = [(island, member) for island in range(4) for member in range(40)]
        different = {
            state.units[place].tobytes() + state.edges[place].tobytes()
            for place in members
            if np.isfinite(state.data[place])  # an impossible symbol ends an evaluation
        }
        assert different and islands.full_evaluations == first + len(different)
        before = state.to_arrays()
        islands.reassess(state)  # all were met before, but two of them may share a place in the memory
        assert islands.full_evaluations - first - len(different) < len(different) / 20
        assert all(np.array_equal(before[name], array) for name, array in state.to_arrays().items())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"population_size": 2}, "population_size is 2. It must be from 4"),
        ({"max_hidden": 100}, "max_hidden is 100. It must be from 1 to 58"),
        ({"pressures": ()}, "pressures"),
        ({"rates": (1.0,)}, "rates .* one for each of add_unit"),
        ({"activations": ("tahn",)}, "Did you mean 'tanh'"),
        ({"impossible": 0.0}, "impossible is 0.0. It must be above 0"),
        ({"clip": 0.0}, "clip is 0.0"),
        ({"extra_mutation": 1.0}, "extra_mutation is 1.0"),
    ],
)
def test_wrong_settings_are_refused(change, message):
    with pytest.raises(UsageError, match=message):
        SearchSettings(**change)


def test_capacities_and_processes_are_checked():
    with pytest.raises(UsageError, match="3 symbols and max_hidden 57 make 63 units"):
        start(TRIE, dataclasses.replace(SMALL, max_hidden=57), 1)
    with pytest.raises(UsageError, match=r"max_edges is 4, but .* 5 symbols"):
        start(trie_of(["abcd"], ("#", "a", "b", "c", "d")), dataclasses.replace(SMALL, max_edges=4), 1)
    with pytest.raises(UsageError, match="processes is 0"):
        Islands(TRIE, SMALL, processes=0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_a_short_search_finds_a_counter(seed):
    # Figure 4's network takes 178 + 309.5 bits on this corpus; nothing that does not count comes below 650.
    trie = trie_of(sample(an_bn_grammar(), 100), AB)
    settings = SearchSettings()
    state = start(trie, settings, seed)
    with Islands(trie, settings) as islands:
        while state.progress().mdl > 487.5 and state.generation[0] < 20_000:
            islands.advance(state, 100)
    assert state.progress().mdl <= 487.5
