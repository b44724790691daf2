"""One island's evolution, compiled: selection, mutation, code length and evaluation with no Python in the loop."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humboldt.mdl.execution_plan import Plan, make_plan
from humboldt.mdl.jit import entry, inner
from humboldt.mdl.search.genome_lengths import grammar_bits, hash_genome
from humboldt.mdl.search.mutations import mutate, random_genome
from humboldt.mdl.search.random_numbers import below, uniform
from humboldt.mdl.state_merging import Memo, trie_bits

_KEY_1, _KEY_2, _S32 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(32)


class Population(NamedTuple):
    """Genomes of one island with their two code lengths. N genomes, capacities U and E."""

    units: NDArray[np.int64]  # (N, U)
    edges: NDArray[np.int64]  # (N, E)
    sizes: NDArray[np.int64]  # (N, 2) units and edges in use
    grammar: NDArray[np.float64]  # (N,) |G|
    data: NDArray[np.float64]  # (N,) |D:G|
    rng: NDArray[np.uint64]  # (1,)
    counts: NDArray[np.int64]  # (1,) number of offspring so far


class Cache(NamedTuple):
    """|D:G| of earlier genomes, looked up by two independent 64-bit hashes. It saves time and changes no result."""

    key_1: NDArray[np.uint64]
    key_2: NDArray[np.uint64]
    data: NDArray[np.float64]


class Rules(NamedTuple):
    """The settings that compiled code needs."""

    num_symbols: int
    allowed: NDArray[np.int64]  # activation numbers
    activation_bits: int
    allow_product: bool
    cumulative: NDArray[np.float64]  # running sums of the operators' rates
    extra_mutation: float
    tournament_size: int
    num_elite: int
    keep_distinct: bool
    clip: float
    strict: bool  # an offspring that is worse than the loser dies at once
    pressure: float  # weight of |G| in selection
    impossible: float  # bits charged for a symbol of probability 0


class Scratch(NamedTuple):
    """Working memory of one process."""

    plan: Plan
    memo: Memo
    units: NDArray[np.int64]
    edges: NDArray[np.int64]
    sizes: NDArray[np.int64]
    degrees: NDArray[np.int64]
    elite: NDArray[np.int64]  # (N,) 1 for protected members
    hashes: NDArray[np.uint64]  # (N,)
    present: NDArray[np.int64]  # (2^k,) members per low hash bits
    full: NDArray[np.int64]  # (1,) networks whose |D:G| was computed to the end of the corpus


@inner
def _data_bits(h1, h2, rules, trie, cache, scratch, bound):
    """Returns |D:G| of the genome in scratch, or the negative of a part of it that is more than `bound`."""
    if rules.impossible < np.inf:  # |D:G| differs, so the key must differ
        h2 = ~h2
    slot = np.int64(h1 & np.uint64(len(cache.key_1) - 1))
    if cache.key_1[slot] == h1 and cache.key_2[slot] == h2:
        bits = cache.data[slot]
        if bits >= 0.0 or -bits > bound:
            return bits
    sizes = scratch.sizes
    make_plan(scratch.plan, scratch.units, sizes[0], scratch.edges, sizes[1], rules.num_symbols, rules.clip)
    bits = trie_bits(scratch.plan, trie, scratch.memo, rules.num_symbols, rules.clip, bound, rules.impossible)
    if 0.0 <= bits < np.inf:
        scratch.full[0] += 1
    cache.key_1[slot] = h1
    cache.key_2[slot] = h2
    cache.data[slot] = bits
    return bits


@inner
def _hash_lengths(grammar, data):
    """Returns one word for two code lengths: equal for equal lengths, and rarely for others."""
    h = (np.float64(data).view(np.uint64) ^ (np.uint64(grammar) * _KEY_1)) * _KEY_2
    return h ^ (h >> _S32)


@inner
def _load(population, i, scratch):
    sizes = population.sizes[i]
    for u in range(sizes[0]):
        scratch.units[u] = population.units[i, u]
    for e in range(sizes[1]):
        scratch.edges[e] = population.edges[i, e]
    scratch.sizes[0] = sizes[0]
    scratch.sizes[1] = sizes[1]


@inner
def _store(population, i, scratch, grammar, data):
    for u in range(scratch.sizes[0]):
        population.units[i, u] = scratch.units[u]
    for u in range(scratch.sizes[0], population.sizes[i, 0]):
        population.units[i, u] = 0
    for e in range(scratch.sizes[1]):
        population.edges[i, e] = scratch.edges[e]
    for e in range(scratch.sizes[1], population.sizes[i, 1]):
        population.edges[i, e] = 0
    population.sizes[i, 0] = scratch.sizes[0]
    population.sizes[i, 1] = scratch.sizes[1]
    population.grammar[i] = grammar
    population.data[i] = data


@inner
def better(population, i, j, pressure):
    """Returns -1 if i has the shorter description, 1 if j has, 0 for a tie. If both are infinite, |G| decides."""
    a = pressure * population.grammar[i] + population.data[i]
    b = pressure * population.grammar[j] + population.data[j]
    if a == b and np.isinf(a):
        a, b = population.grammar[i], population.grammar[j]
    return -1 if a < b else (1 if b < a else 0)


@inner
def tournament(population, size, pressure):
    """Returns winner and loser among `size` distinct random members; the random order of the draw breaks ties."""
    n = len(population.grammar)
    rng = population.rng
    winner = below(rng, n)
    loser = winner
    for k in range(1, size):
        member = below(rng, n)
        while member in (winner, loser):
            member = below(rng, n)
        if better(population, member, winner, pressure) < 0:
            if k == 1:
                loser = winner
            winner = member
        elif k == 1 or better(population, loser, member, pressure) <= 0:
            loser = member
    return winner, loser


@inner
def _mark_elite(population, scratch, count):
    """Marks the best `count` members of distinct, finite description length as protected."""
    n = len(population.grammar)
    scratch.elite[:] = 0
    last = -np.inf
    for _ in range(count):
        best = -1
        best_total = np.inf
        for i in range(n):
            total = population.grammar[i] + population.data[i]
            if last < total < best_total:
                best, best_total = i, total
        if best < 0:
            return
        scratch.elite[best] = 1
        last = best_total


@entry
def start_island(sources):
    """Fills a population with random networks and evaluates them."""

    def start_island(population, rules, trie, cache, scratch):
        _ = sources  # see jit.py
        for i in range(len(population.grammar)):
            random_genome(population.rng, scratch.units, scratch.edges, scratch.sizes, rules.num_symbols, rules.allowed)
            h1, h2 = hash_genome(scratch.units, scratch.edges, scratch.sizes)
            data = _data_bits(h1, h2, rules, trie, cache, scratch, np.inf)
            grammar = grammar_bits(scratch.units, scratch.edges, scratch.sizes, scratch.degrees, rules.activation_bits)
            _store(population, i, scratch, grammar, data)

    return start_island


@entry
def reassess(sources):
    """Recomputes |D:G| of all members by these rules: some may have come from an island with other rules."""

    def reassess(population, rules, trie, cache, scratch):
        _ = sources  # see jit.py
        for i in range(len(population.grammar)):
            _load(population, i, scratch)
            h1, h2 = hash_genome(scratch.units, scratch.edges, scratch.sizes)
            population.data[i] = _data_bits(h1, h2, rules, trie, cache, scratch, np.inf)

    return reassess


@entry
def migrate_ring(sources):
    """Sends tournament winners of each island to the island `distance` further on, where they replace losers."""

    def migrate_ring(populations, num_migrants, tournament_size, pressures, distance):
        _ = sources  # see jit.py
        count = len(populations)
        migrants = np.zeros((count, num_migrants), np.int64)
        for k in range(count):
            for m in range(num_migrants):
                migrants[k, m] = tournament(populations[k], tournament_size, pressures[k])[0]
        # All are copied before any arrives.
        first = populations[0]
        units = np.zeros((count, num_migrants, first.units.shape[1]), np.int64)
        edges = np.zeros((count, num_migrants, first.edges.shape[1]), np.int64)
        sizes = np.zeros((count, num_migrants, 2), np.int64)
        lengths = np.zeros((count, num_migrants, 2))
        for k in range(count):
            for m in range(num_migrants):
                i = migrants[k, m]
                units[k, m] = populations[k].units[i]
                edges[k, m] = populations[k].edges[i]
                sizes[k, m] = populations[k].sizes[i]
                lengths[k, m, 0] = populations[k].grammar[i]
                lengths[k, m, 1] = populations[k].data[i]
        for k in range(count):
            target = populations[(k + distance) % count]
            for m in range(num_migrants):
                i = tournament(target, tournament_size, pressures[(k + distance) % count])[1]
                target.units[i] = units[k, m]
                target.edges[i] = edges[k, m]
                target.sizes[i] = sizes[k, m]
                target.grammar[i] = lengths[k, m, 0]
                target.data[i] = lengths[k, m, 1]

    return migrate_ring


@entry
def advance_island(sources):
    """Evolves a population for some generations, each of as many offspring as it has members."""

    def advance_island(population, rules, trie, cache, scratch, generations):
        _ = sources  # see jit.py
        n = len(population.grammar)
        mask = np.uint64(len(scratch.present) - 1)
        scratch.present[:] = 0
        for i in range(n):
            scratch.hashes[i] = _hash_lengths(population.grammar[i], population.data[i])
            scratch.present[np.int64(scratch.hashes[i] & mask)] += 1
        for _generation in range(generations):
            _mark_elite(population, scratch, rules.num_elite)
            for _offspring in range(n):
                winner, loser = tournament(population, rules.tournament_size, rules.pressure)
                _load(population, winner, scratch)
                while True:
                    mutate(
                        population.rng,
                        scratch.units,
                        scratch.edges,
                        scratch.sizes,
                        rules.num_symbols,
                        rules.allowed,
                        rules.allow_product,
                        rules.cumulative,
                    )
                    if uniform(population.rng) >= rules.extra_mutation:
                        break
                h1, h2 = hash_genome(scratch.units, scratch.edges, scratch.sizes)
                population.counts[0] += 1
                grammar = grammar_bits(
                    scratch.units, scratch.edges, scratch.sizes, scratch.degrees, rules.activation_bits
                )
                bound = np.inf
                if rules.strict:
                    bound = rules.pressure * (population.grammar[loser] - grammar) + population.data[loser]
                data = _data_bits(h1, h2, rules, trie, cache, scratch, bound)
                if data < 0.0 or data > bound:
                    continue
                if scratch.elite[loser] and not grammar + data < population.grammar[loser] + population.data[loser]:
                    continue
                lengths = _hash_lengths(grammar, data)
                slot = np.int64(lengths & mask)
                place = loser
                # A member with the same two lengths is in effect the same network: if the offspring took another
                # place, copies would crowd out other networks. Taking its twin's place it can still drift.
                if rules.keep_distinct and scratch.present[slot] > 0 and data < np.inf:
                    for i in range(n):
                        if scratch.hashes[i] == lengths:
                            place = i
                            break
                scratch.present[np.int64(scratch.hashes[place] & mask)] -= 1
                scratch.present[slot] += 1
                scratch.hashes[place] = lengths
                _store(population, place, scratch, grammar, data)

    return advance_island
