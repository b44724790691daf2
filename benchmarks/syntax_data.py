"""How fast are the splits of the pseudo-languages drawn, and their shortcuts audited?

    OPENBLAS_NUM_THREADS=1 python benchmarks/syntax_data.py [--terminals 100] [--repeats 5]

Prints one JSON record. `splits_s` is the time for all 100,000 strings of the paper's four splits of one language,
`baseline_s` the time for as many strings from a plain loop over strings and symbols (measured on fewer and scaled),
`audit_s` the time for the full shortcut audit of one language.
"""

import argparse
import datetime
import json
import os
import platform
import statistics
import time

import numba
import numpy as np

from humboldt import __version__
from humboldt.languages import tasks
from humboldt.languages.syntax import AbstractPseudoLanguage, SplitSettings, splits
from humboldt.measures.shortcuts import shortcut_audit

STRINGS = 100_000


def timed(work, repeats: int) -> dict[str, float]:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return {"min": round(min(times), 4), "median": round(statistics.median(times), 4)}


def plain_loop(task: AbstractPseudoLanguage, count: int) -> None:
    """Algorithm 1 of the paper as it is written, one symbol at a time, with a negative for each positive."""
    rng = np.random.default_rng(0)
    weights = 1 / np.arange(1, task.terminals + 1)
    weights /= weights.sum()
    for _ in range(count // 2):
        half = int(rng.integers(2, 16))
        classes = rng.integers(0, 5, half)
        skeleton = [f"NP{i}" for i in classes] + [f"VP{i}" for i in classes[::-1]]
        string = [f"{category}_{rng.choice(task.terminals, p=weights)}" for category in skeleton]
        for place in rng.choice(half, int(rng.integers(1, half + 1)), replace=False):
            other = (int(classes[half - 1 - place]) + int(rng.integers(1, 5))) % 5
            string[half + place] = f"VP{other}_{rng.choice(task.terminals, p=weights)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--terminals", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()

    languages = {name: tasks.get(name)(**{"terminals": given.terminals}) for name in tasks.names("syntax/")}
    small = SplitSettings(train=500, validation=50, test=50, long=50)
    start = time.perf_counter()
    for task in languages.values():  # warm-up: compiles the audit, builds the tables of terminals
        assert isinstance(task, AbstractPseudoLanguage)
        drawn = splits(task, 0, small)
        shortcut_audit(drawn["train"], {"test": drawn["test"]}, categories=task.symbol_categories)
    record = {
        "benchmark": "syntax_data",
        "strings": STRINGS,
        "terminals": given.terminals,
        "repeats": given.repeats,
        "warm_up_s": round(time.perf_counter() - start, 2),
        "splits_s": {},
        "audit_s": {},
    }
    for name, task in languages.items():
        assert isinstance(task, AbstractPseudoLanguage)
        record["splits_s"][name] = timed(lambda task=task: splits(task, 0), given.repeats)
        drawn = splits(task, 0)
        record["audit_s"][name] = timed(
            lambda task=task, drawn=drawn: shortcut_audit(drawn["train"], drawn, categories=task.symbol_categories),
            min(given.repeats, 3),
        )
    nested = languages["syntax/nested_dependency"]
    assert isinstance(nested, AbstractPseudoLanguage)
    loop = timed(lambda: plain_loop(nested, STRINGS // 100), 3)
    record["baseline_s"] = {key: round(100 * value, 2) for key, value in loop.items()}
    record["machine"] = {
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),  # other work slows the audit: read the record with it in mind
        "blas_threads": os.environ.get("OPENBLAS_NUM_THREADS", "not set"),
    }
    record["versions"] = {
        "humboldt": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }
    record["date"] = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    print(json.dumps(record))


if __name__ == "__main__":
    main()
