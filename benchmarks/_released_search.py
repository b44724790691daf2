"""The search of Lan et al.'s released code (taucompling/mdlrnn), a stretch at a time. Run by its own environment.

    ENVIRONMENT/bin/python benchmarks/_released_search.py CHECKOUT '[1, 2, 1]'

One island on the strings a^n b^n of these n, with the settings of its own simulations. The first line on stdout says
with which versions; then every line on stdin is a JSON request and is answered by one line of JSON:

- `{"search": SECONDS}` makes generations for so many seconds of processor time, and counts the offspring and those of
  them whose evaluation went to the end: neither looked up nor stopped at an impossible symbol;
- `{"evaluate": SECONDS}` evaluates the members of finite |D:G|, one after the other, with nothing looked up.

`mdl_search.py --reference` talks to it.
"""

import importlib
import json
import platform
import sys
import time
from types import SimpleNamespace
from typing import Any


def main() -> None:
    """Builds the first population, then answers."""
    checkout, counts = sys.argv[1:]
    sys.path.insert(0, checkout)
    rank = SimpleNamespace(Get_rank=lambda: 0)
    # It imports MPI, by which islands exchange members; one island exchanges none.
    sys.modules["mpi4py"] = SimpleNamespace(MPI=SimpleNamespace(COMM_WORLD=rank))  # pyright: ignore[reportArgumentType]
    names = "configuration", "corpora", "genetic_algorithm", "network", "simulations", "utils"
    modules: Any = map(importlib.import_module, names)
    configuration, corpora, algorithm, network, simulations, utils = modules

    strings = corpora._make_ain_bjn_ckn_dtn_corpus(tuple(json.loads(counts)), (1, 1, 0, 0), 0.3, False)
    corpus = corpora.optimize_for_feeding(strings)
    config = configuration.SimulationConfig(simulation_id="", num_islands=1, seed=1, **simulations.DEFAULT_CONFIG)
    utils.seed(config.seed)
    ran_to_the_end = 0
    feed = network.feed_sequence

    def counted(*arguments: Any, **named: Any) -> Any:
        nonlocal ran_to_the_end
        outputs = feed(*arguments, **named)  # raises an error where it stops early
        ran_to_the_end += 1
        return outputs

    network.feed_sequence = counted
    size = corpus.input_sequence.shape[-1]
    population = algorithm._make_random_population(config, size, size)
    population = algorithm._evaluate_population(population, corpus, config)

    def search(seconds: float) -> dict[str, float]:
        nonlocal population
        before, tried = ran_to_the_end, 0
        wall, cpu = time.perf_counter(), time.process_time()
        while time.process_time() - cpu < seconds:
            population = algorithm._make_generation(population, corpus, config)
            tried += len(population)
        used = {"processor_seconds": time.process_time() - cpu, "wall_seconds": time.perf_counter() - wall}
        best = min(member.fitness.mdl for member in population)
        return {"tried": tried, "to_the_end": ran_to_the_end - before, **used, "best_mdl": best}

    def evaluate(seconds: float) -> dict[str, float]:
        members = [member for member in population if member.fitness.mdl < float("inf")]
        done, cpu = 0, time.process_time()
        while time.process_time() - cpu < seconds:
            network._get_data_given_g_encoding_length(members[done % len(members)], corpus, config)
            done += 1
        return {"evaluated": done, "processor_seconds": time.process_time() - cpu}

    versions = {name: importlib.import_module(name).__version__ for name in ("numpy", "numba", "scipy", "cachetools")}
    print(json.dumps({"python": platform.python_version(), **versions}), flush=True)
    answers = {"search": search, "evaluate": evaluate}
    for line in sys.stdin:
        ((request, seconds),) = json.loads(line).items()
        print(json.dumps(answers[request](seconds)), flush=True)


if __name__ == "__main__":
    main()
