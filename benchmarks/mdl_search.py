"""How many networks per second does the search try, on one core, and how many can it evaluate in full?

    python benchmarks/mdl_search.py [--seconds 10] [--repeats 5]

The corpus is a^n b^n, 100 strings, p = 0.3, seed 100 (that of the paper). Three numbers, none of which is another:

- networks tried: offspring made, each with selection, mutation, code length, evaluation and replacement.
  One met before is looked up, and an evaluation ends as soon as the offspring cannot survive;
- full share: the part of the networks tried whose evaluation did run to the end of the corpus;
- full evaluations: how many networks per second are evaluated from the first symbol to the last, with nothing looked up
  and nothing cut short (evaluation alone), of the networks that the search holds at the end. The number to compare with
  another implementation's evaluation, as our own in plain Python, which is measured here too.

Two settings are timed: the published search (`SearchSettings.reference`, a single island), and our default, whose
offspring are larger and less often known already.

With `--reference CHECKOUT --reference-python ENVIRONMENT/bin/python` an island of the released code of Lan et al. runs
on the same strings beside them, a stretch of each in turn, and is counted alike. It has a memory of networks met before
too, and the longer it runs, the more it looks up; therefore its warm-up is long. The code is of 2023, and so must its
packages be:

    git clone https://github.com/taucompling/mdlrnn CHECKOUT
    python3.11 -m venv ENVIRONMENT
    ENVIRONMENT/bin/pip install numpy==1.23.5 numba==0.57.1 scipy==1.10.1 cachetools

Prints one JSON record to stdout, and what it is doing to stderr.
"""

import argparse
import json
import statistics
import sys
import time

import numpy as np
from _record import report
from _reference import Reference, add_options

from humboldt.mdl import Network, Trie, build_trie, data_bits, data_bits_slow
from humboldt.mdl.machine_words import pack, unpack
from humboldt.mdl.search import Islands, SearchSettings, start

SYMBOLS = ("#", "a", "b")
Counts = dict[str, float]


def corpus() -> list[int]:
    """The n of a^n b^n. S -> a X b; X -> a X b with probability 0.7, else nothing.

    One draw per expansion, S's single rule included.
    """
    random = np.random.RandomState(100)
    counts = []
    for _ in range(100):
        random.choice(1, p=[1.0])
        n = 1
        while random.choice(2, p=[0.7, 0.3]) == 0:
            n += 1
        counts.append(n)
    return counts


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class Search:
    """Our search with some settings, run a stretch at a time."""

    def __init__(self, trie: Trie, settings: SearchSettings) -> None:
        self.trie, self.settings = trie, settings
        began = time.perf_counter()
        self.state, self.islands = start(trie, settings, seed=1), Islands(trie, settings)
        self.islands.advance(self.state, 1)
        self.compile_seconds = time.perf_counter() - began

    def stretch(self, seconds: float) -> Counts:
        """CPU time, so that a busy machine neither shortens the warm-up nor slows the count."""
        tried, full = self.state.networks_tried, self.islands.full_evaluations
        cpu, wall = time.process_time(), time.perf_counter()
        while time.process_time() - cpu < seconds:
            self.islands.advance(self.state, 10)
        used = {"processor_seconds": time.process_time() - cpu, "wall_seconds": time.perf_counter() - wall}
        best = self.state.progress().mdl
        full = self.islands.full_evaluations - full
        return {"tried": self.state.networks_tried - tried, "to_the_end": full, **used, "best_mdl": best}

    def evaluations(self, seconds: float) -> Counts:
        """Per second of CPU time, of every tenth network that the search holds: compiled, and in plain Python."""
        state = self.state
        members = range(0, self.settings.population_size, 10)
        networks = [
            unpack(state.units[i, m, : state.sizes[i, m, 0]], state.edges[i, m, : state.sizes[i, m, 1]], SYMBOLS)
            for i in range(self.settings.num_islands)
            for m in members
        ]
        cpu = time.process_time()
        for network in networks:
            data_bits_slow(network, self.trie)
        slow = len(networks) / (time.process_time() - cpu)
        full = full_evaluations_per_second(self.trie, networks, seconds)
        return {
            "full_evaluations_per_second": round(full),
            "full_evaluations_times_plain_python": round(full / slow),
            "plain_python_evaluations_per_second": round(slow, 1),
        }


def summary(stretches: list[Counts]) -> Counts:
    rates = [counts["tried"] / counts["processor_seconds"] for counts in stretches]
    wall_rates = [counts["tried"] / counts["wall_seconds"] for counts in stretches]
    full_share = sum(counts["to_the_end"] for counts in stretches) / sum(counts["tried"] for counts in stretches)
    return {
        "per_second_median": round(statistics.median(rates)),
        "per_second_min": round(min(rates)),
        "per_second_max": round(max(rates)),
        "per_wall_second_median": round(statistics.median(wall_rates)),
        "full_share_of_networks_tried": round(full_share, 4),
        "best_mdl": round(stretches[-1]["best_mdl"], 1),
    }


def times(ours: Counts, theirs: Counts, rate: str) -> float:
    return round(ours[rate] / theirs[rate], 1)


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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--seconds",
        type=float,
        default=10.0,
        help="CPU seconds of steady state per setting, after half as many of warm-up",
    )
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument(
        "--reference-warm-up",
        type=float,
        default=300.0,
        help="CPU seconds of warm-up of the released code, which tries few networks per second",
    )
    add_options(parser)
    options = parser.parse_args()
    counts = corpus()
    trie = build_trie([[1] * n + [2] * n for n in counts], len(SYMBOLS))
    settings = {"reference_rules": SearchSettings.reference(num_islands=1), "default": SearchSettings()}
    searches = {name: Search(trie, chosen) for name, chosen in settings.items()}
    reference = Reference(options, "_released_search.py", json.dumps(counts)) if options.reference else None
    note("Warm-up: from random networks to a working population ...")
    for search in searches.values():
        search.stretch(options.seconds / 2)
    warm_up = reference.ask({"search": options.reference_warm_up}) if reference else {}
    stretches: dict[str, list[Counts]] = {name: [] for name in (*searches, "reference")}
    for number in range(options.repeats):
        note(f"Round {number + 1} of {options.repeats} ...")
        for name, search in searches.items():
            stretches[name].append(search.stretch(options.seconds / options.repeats))
        if reference:
            stretches["reference"].append(reference.ask({"search": options.seconds / options.repeats}))
    results = {
        name: {
            "compile_or_load_seconds": round(search.compile_seconds, 2),
            **summary(stretches[name]),
            **search.evaluations(options.seconds / 2),
        }
        for name, search in searches.items()
    }
    baseline = {}
    if reference:
        done = reference.ask({"evaluate": options.seconds / 2})
        evaluations = {"full_evaluations_per_second": round(done["evaluated"] / done["processor_seconds"])}
        before = {"warm_up_seconds": options.reference_warm_up, "networks_tried_in_warm_up": warm_up["tried"]}
        theirs = {**before, **summary(stretches["reference"]), **evaluations}
        baseline = {"reference": {"name": "taucompling/mdlrnn", **reference.about(), **theirs}}
        for result in results.values():
            result["times_reference"] = times(result, theirs, "per_second_median")
            result["full_evaluations_times_reference"] = times(result, theirs, "full_evaluations_per_second")
    report(
        "mdl_search",
        {
            "unit": "per second of CPU time, one core; per_second_* are networks tried",
            "corpus": "an_bn, 100 strings, p 0.3, seed 100",
            "results": results,
            **baseline,
            "repeats": options.repeats,
            "seconds": options.seconds,
        },
    )


if __name__ == "__main__":
    main()
