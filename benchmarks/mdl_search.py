"""How many networks per second does the search try, on one core, and how many can it evaluate in full?

    python benchmarks/mdl_search.py [--seconds 10] [--repeats 5]

The corpus is a^n b^n, 100 strings, p = 0.3, seed 100 (that of the paper). Three numbers, none of which is another:

- networks tried: offspring made, each with selection, mutation, code length, evaluation and replacement.
  One met before is looked up, and an evaluation ends as soon as the offspring cannot survive. The reference
  implementation (taucompling/mdlrnn), measured at 2,700 per second and core on this corpus, has such a memory too;
- full share: the part of the networks tried whose evaluation did run to the end of the corpus;
- full evaluations: how many networks per second are evaluated from the first symbol to the last, with nothing looked up
  and nothing cut short (evaluation alone), of the networks that the search holds at the end. The number to compare with
  another implementation's evaluation, as our own in plain Python, which is measured here too.

Two settings are timed: the published search (`SearchSettings.reference`, a single island), and our default, whose
offspring are larger and less often known already.

Prints one JSON record to stdout, and what it is doing to stderr.
"""

import argparse
import statistics
import sys
import time

import numpy as np
from _record import report

from humboldt.mdl import Network, Trie, build_trie, data_bits, data_bits_slow
from humboldt.mdl.machine_words import pack, unpack
from humboldt.mdl.search import Islands, SearchSettings, start

REFERENCE_PER_SECOND = 2700
SYMBOLS = ("#", "a", "b")


def corpus() -> Trie:
    """S -> a X b; X -> a X b with probability 0.7, else nothing. One draw per expansion, S's single rule included."""
    random = np.random.RandomState(100)
    strings = []
    for _ in range(100):
        random.choice(1, p=[1.0])
        n = 1
        while random.choice(2, p=[0.7, 0.3]) == 0:
            n += 1
        strings.append([1] * n + [2] * n)
    return build_trie(strings, len(SYMBOLS))


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def measure(trie: Trie, settings: SearchSettings, seconds: float, repeats: int) -> dict[str, float]:
    """Tries per second of CPU time and of wall time over `repeats` stretches, after a warm-up."""
    began = time.perf_counter()
    state = start(trie, settings, seed=1)
    islands = Islands(trie, settings)
    islands.advance(state, 1)
    compile_seconds = time.perf_counter() - began
    # CPU time throughout, so that a busy machine neither shortens the warm-up nor slows the count.
    began = time.process_time()
    while time.process_time() - began < seconds / 2:  # warm-up: from random networks to a working population
        islands.advance(state, 10)
    rates, wall_rates = [], []
    tried_before, full_before = state.networks_tried, islands.full_evaluations
    for _ in range(repeats):
        before, cpu, wall = state.networks_tried, time.process_time(), time.perf_counter()
        while time.process_time() - cpu < seconds / repeats:
            islands.advance(state, 10)
        tried = state.networks_tried - before
        rates.append(tried / (time.process_time() - cpu))
        wall_rates.append(tried / (time.perf_counter() - wall))
    full_share = (islands.full_evaluations - full_before) / (state.networks_tried - tried_before)
    members = [
        (island, member) for island in range(settings.num_islands) for member in range(0, settings.population_size, 10)
    ]
    networks = [
        unpack(state.units[i, m, : state.sizes[i, m, 0]], state.edges[i, m, : state.sizes[i, m, 1]], SYMBOLS)
        for i, m in members
    ]
    cpu = time.process_time()
    for network in networks:
        data_bits_slow(network, trie)
    slow = len(networks) / (time.process_time() - cpu)
    full = full_evaluations_per_second(trie, networks, seconds / 2)
    median = statistics.median(rates)
    return {
        "compile_or_load_seconds": round(compile_seconds, 2),
        "per_second_median": round(median),
        "per_second_min": round(min(rates)),
        "per_second_max": round(max(rates)),
        "per_wall_second_median": round(statistics.median(wall_rates)),
        "times_reference": round(median / REFERENCE_PER_SECOND, 1),
        "full_share_of_networks_tried": round(full_share, 4),
        "full_evaluations_per_second": round(full),
        "full_evaluations_times_plain_python": round(full / slow),
        "plain_python_evaluations_per_second": round(slow, 1),
        "best_mdl": round(state.progress().mdl, 1),
    }


def full_evaluations_per_second(trie: Trie, networks: list[Network], seconds: float) -> float:
    """Networks of finite |D:G| evaluated one after the other by compiled code, memory emptied before each round."""
    finite = [network for network in networks if np.isfinite(data_bits(network, trie))]
    settings = SearchSettings(population_size=max(len(finite), 4), max_hidden=50, max_edges=250, pressures=(1.0,))
    state, islands = start(trie, settings, seed=1), Islands(trie, settings)
    for member, network in enumerate(finite):
        units, edges = pack(network, state.units.shape[2], state.edges.shape[2])
        state.units[0, member], state.edges[0, member] = units, edges
        state.sizes[0, member] = len(network.units), len(network.edges)
    islands.reassess(state)
    before, cpu = islands.full_evaluations, time.process_time()
    while time.process_time() - cpu < seconds:
        islands.forget()
        islands.reassess(state)
    return (islands.full_evaluations - before) / (time.process_time() - cpu)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--seconds",
        type=float,
        default=10.0,
        help="CPU seconds of steady state per setting, after half as many of warm-up",
    )
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    trie = corpus()
    cases = {
        "reference_rules": SearchSettings.reference(num_islands=1),
        "default": SearchSettings(),
    }
    results = {}
    for name, settings in cases.items():
        note(f"{name}: {settings.num_islands} island(s) of {settings.population_size} ...")
        results[name] = measure(trie, settings, options.seconds, options.repeats)
        note(f"  {results[name]}")
    report(
        "mdl_search",
        {
            "unit": "per second of CPU time, one core; per_second_* are networks tried",
            "corpus": "an_bn, 100 strings, p 0.3, seed 100",
            "baseline": {"name": "taucompling/mdlrnn", "per_second": REFERENCE_PER_SECOND},
            "results": results,
            "repeats": options.repeats,
            "seconds": options.seconds,
        },
    )


if __name__ == "__main__":
    main()
