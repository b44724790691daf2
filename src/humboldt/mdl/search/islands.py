"""The search for the network with the shortest description: islands, migration, restarts; deterministic and resumable.

```python
state = start(trie, settings, seed=1)
with Islands(trie, settings, processes=2) as islands:
    islands.advance(state, 1000)
network = state.best_network(symbols)
```

The state is a set of plain arrays. The effect of `advance` depends on the state alone: not on the number of processes,
nor on how the generations are divided over calls.
"""

import math
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from types import TracebackType

import numpy as np

from humboldt.errors import UsageError
from humboldt.mdl.activations import activation_ids
from humboldt.mdl.execution_plan import new_plan
from humboldt.mdl.machine_words import MAX_UNITS
from humboldt.mdl.network_bits import choice_bits
from humboldt.mdl.search.island import (
    Cache,
    Population,
    Rules,
    Scratch,
    advance_island,
    migrate_ring,
    reassess,
    start_island,
)
from humboldt.mdl.search.random_numbers import seed_states
from humboldt.mdl.search.settings import SearchSettings
from humboldt.mdl.search.state import SearchState
from humboldt.mdl.state_merging import new_memo
from humboldt.mdl.trie import Trie

CACHE_SLOTS = 1 << 17
PRESENT_SLOTS = 1 << 13


class _Worker:
    """The compiled code, corpus and working memory of one process."""

    def __init__(self, trie: Trie, settings: SearchSettings) -> None:
        units, edges, members = _max_units(trie, settings), settings.max_edges, settings.population_size
        self.trie = trie.arrays
        self.rules = [_rules(trie, settings, place) for place in range(len(settings.pressures))]
        self.cache = Cache(np.zeros(CACHE_SLOTS, np.uint64), np.zeros(CACHE_SLOTS, np.uint64), np.zeros(CACHE_SLOTS))
        self.scratch = Scratch(
            plan=new_plan(units, edges, trie.num_symbols),
            memo=new_memo(trie.num_nodes, units, trie.num_symbols),
            units=np.zeros(units, np.int64),
            edges=np.zeros(edges, np.int64),
            sizes=np.zeros(2, np.int64),
            degrees=np.zeros(units, np.int64),
            elite=np.zeros(members, np.int64),
            hashes=np.zeros(members, np.uint64),
            present=np.zeros(PRESENT_SLOTS, np.int64),
            full=np.zeros(1, np.int64),
        )

    def start(self, population: Population, island: int) -> None:
        start_island(population, self.rules[island % len(self.rules)], self.trie, self.cache, self.scratch)

    def reassess(self, population: Population, island: int) -> None:
        reassess(population, self.rules[island % len(self.rules)], self.trie, self.cache, self.scratch)

    def advance(self, population: Population, island: int, generations: int) -> None:
        rules = self.rules[island % len(self.rules)]
        advance_island(population, rules, self.trie, self.cache, self.scratch, generations)


def _rules(trie: Trie, settings: SearchSettings, place: int) -> Rules:
    return Rules(
        num_symbols=trie.num_symbols,
        allowed=activation_ids(settings.activations),
        activation_bits=choice_bits(len(settings.activations)),
        allow_product=settings.allow_product,
        cumulative=np.cumsum(np.array(settings.rates, dtype=np.float64)),
        extra_mutation=float(settings.extra_mutation),
        tournament_size=settings.tournament_size,
        num_elite=math.ceil(settings.population_size * settings.elite_ratio),
        keep_distinct=settings.keep_distinct,
        clip=float(settings.clip),
        strict=settings.strict,
        pressure=float(settings.pressures[place]),
        impossible=math.inf if place in settings.exact_places else float(settings.impossible),
    )


def _max_units(trie: Trie, settings: SearchSettings) -> int:
    units = 2 * trie.num_symbols + settings.max_hidden
    if units > MAX_UNITS:
        raise UsageError(
            f"{trie.num_symbols} symbols and max_hidden {settings.max_hidden} make {units} units; {MAX_UNITS} is the "
            "most that a genome can hold. Lower max_hidden."
        )
    return units


def start(trie: Trie, settings: SearchSettings, seed: int) -> SearchState:
    """Returns random, evaluated populations on all islands. Island k's random numbers depend on (seed, k) alone."""
    if trie.num_symbols > settings.max_edges:
        raise UsageError(
            f"max_edges is {settings.max_edges}, but starting networks for {trie.num_symbols} symbols have one edge "
            "per symbol. Raise max_edges."
        )
    k, n, r = settings.num_islands, settings.population_size, settings.num_rings
    u, e = _max_units(trie, settings), settings.max_edges
    state = SearchState(
        units=np.zeros((k, n, u), np.int64),
        edges=np.zeros((k, n, e), np.int64),
        sizes=np.zeros((k, n, 2), np.int64),
        grammar=np.zeros((k, n)),
        data=np.zeros((k, n)),
        rng=seed_states(seed, k),
        counts=np.zeros((k, 1), np.int64),
        generation=np.zeros(1, np.int64),
        best_units=np.zeros((r, u), np.int64),
        best_edges=np.zeros((r, e), np.int64),
        best_sizes=np.zeros((r, 2), np.int64),
        best_lengths=np.full((r, 2), np.inf),
        improved=np.zeros(r, np.int64),
        restarts=np.zeros(r, np.int64),
        born=np.zeros(r, np.int64),
        exact=np.array([island % len(settings.pressures) in settings.exact_places for island in range(k)]),
        record_units=np.zeros(u, np.int64),
        record_edges=np.zeros(e, np.int64),
        record_sizes=np.zeros(2, np.int64),
        record_lengths=np.full(2, np.inf),
        record_generation=np.zeros(1, np.int64),
    )
    worker = _Worker(trie, settings)
    for island in range(k):
        worker.start(_population(state, island), island)
    _note_best(state, settings)
    return state


def _population(state: SearchState, island: int) -> Population:
    """Returns views of one island's arrays."""
    return Population(
        state.units[island],
        state.edges[island],
        state.sizes[island],
        state.grammar[island],
        state.data[island],
        state.rng[island],
        state.counts[island],
    )


def _note_best(state: SearchState, settings: SearchSettings) -> None:
    """Updates the best network of each ring and of the search."""
    per_ring = len(settings.pressures)
    for ring in range(settings.num_rings):
        islands = slice(ring * per_ring, (ring + 1) * per_ring)
        totals = np.where(state.exact[islands, None], state.grammar[islands] + state.data[islands], np.inf)
        island, member = np.unravel_index(int(np.argmin(totals)), totals.shape)
        best = float(totals[island, member])
        if state.best_sizes[ring, 0] and not best < state.best_lengths[ring].sum():
            continue
        source = ring * per_ring + int(island)
        state.best_units[ring] = state.units[source, member]
        state.best_edges[ring] = state.edges[source, member]
        state.best_sizes[ring] = state.sizes[source, member]
        state.best_lengths[ring] = (state.grammar[source, member], state.data[source, member])
        state.improved[ring] = state.generation[0]
        if best < state.record_lengths.sum() or not state.record_sizes[0]:
            state.record_units[:] = state.best_units[ring]
            state.record_edges[:] = state.best_edges[ring]
            state.record_sizes[:] = state.best_sizes[ring]
            state.record_lengths[:] = state.best_lengths[ring]
            state.record_generation[0] = state.generation[0]


_worker: _Worker | None = None


def _start_process(trie: Trie, settings: SearchSettings) -> None:
    global _worker
    _worker = _Worker(trie, settings)


def _advance_in_process(population: Population, island: int, generations: int) -> Population:
    assert _worker is not None
    _worker.advance(population, island, generations)
    return population


class Islands:
    """Advances a search, in this process or in several. Use it in a `with` block."""

    def __init__(self, trie: Trie, settings: SearchSettings, *, processes: int = 1) -> None:
        if processes < 1:
            raise UsageError(f"processes is {processes}. It must be at least 1.")
        self.settings = settings
        self._worker = _Worker(trie, settings)
        self._pool: ProcessPoolExecutor | None = None
        if processes > 1:
            # "spawn": a forked child would inherit threads (Numba's, JAX's) in an unknown state.
            self._pool = ProcessPoolExecutor(
                min(processes, settings.num_islands),
                mp_context=multiprocessing.get_context("spawn"),
                initializer=_start_process,
                initargs=(trie, settings),
            )

    def __enter__(self) -> "Islands":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool:
            self._pool.shutdown(wait=True, cancel_futures=True)

    @property
    def full_evaluations(self) -> int:
        """Number of networks whose |D:G| this process has computed to the end of the corpus.

        Of `SearchState.networks_tried` these are few: most are looked up, or cut short. The number depends on the cache
        of this process, so it is not part of the state.
        """
        return int(self._worker.scratch.full[0])

    def advance(self, state: SearchState, generations: int) -> SearchState:
        """Advances the search by some generations, in place. It migrates at multiples of `migration_interval`."""
        interval = self.settings.migration_interval
        end = int(state.generation[0]) + generations
        while state.generation[0] < end:
            now = int(state.generation[0])
            stretch = min(end, (now // interval + 1) * interval) - now
            self._evolve(state, stretch)
            state.generation[0] += stretch
            if state.generation[0] % interval == 0:
                _note_best(state, self.settings)
                self._restart_stale(state)
                self._migrate(state)
        return state

    def reassess(self, state: SearchState) -> None:
        """Recomputes |D:G| of all members by the rules of their islands. It takes time, but changes nothing."""
        for island in range(self.settings.num_islands):
            self._worker.reassess(_population(state, island), island)

    def forget(self) -> None:
        """Empties this process's cache of networks. It changes no result."""
        self._worker.cache.key_1[:] = 0
        self._worker.cache.key_2[:] = 0

    def _evolve(self, state: SearchState, generations: int) -> None:
        islands = range(self.settings.num_islands)
        if self._pool is None:
            for island in islands:
                self._worker.advance(_population(state, island), island, generations)
            return
        jobs = [
            self._pool.submit(_advance_in_process, _population(state, island), island, generations)
            for island in islands
        ]
        for island, job in zip(islands, jobs, strict=True):
            for mine, advanced in zip(_population(state, island), job.result(), strict=True):
                mine[...] = advanced

    def _migrate(self, state: SearchState) -> None:
        per_ring = len(self.settings.pressures)
        migrants = math.floor(self.settings.migration_ratio * self.settings.population_size)
        if per_ring == 1 or migrants == 0:
            return
        pressures = np.array(self.settings.pressures, dtype=np.float64)
        distance = 1
        if self.settings.rotate_migration:
            distance += (int(state.generation[0]) // self.settings.migration_interval - 1) % (per_ring - 1)
        for ring in range(self.settings.num_rings):
            members = [_population(state, ring * per_ring + i) for i in range(per_ring)]
            migrate_ring(tuple(members), migrants, self.settings.tournament_size, pressures, distance)
            if len(self.settings.exact_places) < per_ring:
                for place in range(per_ring):
                    self._worker.reassess(members[place], place)

    def _restart_stale(self, state: SearchState) -> None:
        limit, per_ring = self.settings.restart_after, len(self.settings.pressures)
        if not limit:
            return
        for ring in range(self.settings.num_rings):
            idle = state.generation[0] - state.improved[ring]
            age = state.generation[0] - state.born[ring]
            life = limit * luby(int(state.restarts[ring]) + 1)
            if state.best_lengths[ring].sum() <= state.record_lengths.sum():
                life *= 2  # the ring that holds the record may still improve it
            if idle < limit and age < life:
                continue
            state.restarts[ring] += 1
            state.born[ring] = state.generation[0]
            state.best_lengths[ring] = np.inf
            state.best_sizes[ring] = 0
            for island in range(ring * per_ring, (ring + 1) * per_ring):
                self._worker.start(_population(state, island), island)
            _note_best(state, self.settings)


def luby(n: int) -> int:
    """Returns term number n >= 1 of 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ...

    Lives of these lengths are the best strategy for a search whose time to success is unknown (Luby, Sinclair and
    Zuckerman 1993): many are short, but arbitrarily long lives occur.

    >>> [luby(n) for n in range(1, 16)]
    [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]
    """
    length = (n + 1).bit_length() - 1
    if n + 1 == 1 << length:
        return 1 << (length - 1)
    return luby(n + 1 - (1 << length))
