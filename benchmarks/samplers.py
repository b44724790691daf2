"""How long does a batch of each task of the Chomsky suite take to draw?

    python benchmarks/samplers.py > record.json

Claim: under 1 ms for 128 strings of length 40, on one core, after warm-up. Baseline: the oracle, a plain loop over the
same strings that finds the targets only. The table goes to stderr, one JSON record to stdout; the exit status is 1
where a task misses the claim.
"""

import argparse
import datetime
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from humboldt.languages import tasks
from humboldt.languages.chomsky._base import AbstractTransduction

BATCH = 128
CLAIM_MS = {40: 1.0}  # by length
LENGTHS = (40, 500)
CALLS = 20  # per repeat: one call is too short to be timed


def milliseconds(call: Callable[[], Any], calls: int = 1) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - start) / calls * 1e3


def measure(name: str, length: int, repeats: int) -> dict[str, Any]:
    task = tasks.get(name)()
    assert isinstance(task, AbstractTransduction)
    rng = np.random.default_rng(0)

    def sample() -> None:
        task.sample(rng, BATCH, length)

    warm_up = milliseconds(sample)  # compiles, or loads what an earlier run compiled
    times = [milliseconds(sample, CALLS) for _ in range(repeats)]
    pairs = task.sample(rng, BATCH, length)
    inputs = [symbols for symbols, _ in pairs.symbols(task.input_alphabet, task.output_alphabet)]
    oracle = milliseconds(lambda: [task.oracle(symbols) for symbols in inputs])
    claim = CLAIM_MS.get(length)
    median = statistics.median(times)
    return {
        "task": name,
        "length": length,
        "warm_up_ms": round(warm_up, 4),
        "min_ms": round(min(times), 4),
        "median_ms": round(median, 4),
        "oracle_ms": round(oracle, 4),
        "claim_ms": claim,
        "passed": None if claim is None else median < claim,
    }


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=15)
    repeats = parser.parse_args().repeats

    print(f"{'task':<34}{'length':>8}{'min':>10}{'median':>10}{'oracle':>10}  ms", file=sys.stderr)
    results = []
    for name in tasks.names("chomsky/"):
        for length in LENGTHS:
            row = measure(name, length, repeats)
            results.append(row)
            verdict = {True: "pass", False: "FAIL", None: ""}[row["passed"]]
            columns = f"{row['min_ms']:>10.3f}{row['median_ms']:>10.3f}{row['oracle_ms']:>10.1f}"
            print(f"{name:<34}{length:>8}{columns}  {verdict}", file=sys.stderr)
    record = {
        "benchmark": "samplers",
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "machine": {"processor": processor(), "cores": os.cpu_count(), "system": platform.system()},
        "versions": {"python": platform.python_version(), **{each: version(each) for each in ("numpy", "numba")}},
        "batch": BATCH,
        "repeats": repeats,
        "calls_per_repeat": CALLS,
        "results": results,
    }
    print(json.dumps(record))
    return 0 if all(row["passed"] is not False for row in results) else 1


if __name__ == "__main__":
    sys.exit(main())
