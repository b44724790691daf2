"""How long does a batch of each task of the Chomsky suite take to draw?

    python benchmarks/samplers.py > record.json

Claim: under 1 ms for 128 strings of length 40, on one core, after warm-up. Baseline: the oracle, a plain loop over the
same strings that finds the targets only. The table goes to stderr, one JSON record to stdout; the exit status is 1
where a task misses the claim.
"""

import argparse
import sys
from typing import Any

import numpy as np
from _record import measure, report

from humboldt.languages import tasks
from humboldt.languages.chomsky.base import AbstractTransduction

BATCH = 128
CLAIM_MS = {40: 1.0}  # by length
LENGTHS = (40, 500)
CALLS = 20  # per repeat: one call is too short to be timed


def sampling(name: str, length: int, repeats: int) -> dict[str, Any]:
    """One row: the sampler and the oracle on the same number of strings."""
    task = tasks.get(name)()
    assert isinstance(task, AbstractTransduction)
    rng = np.random.default_rng(0)

    def sample() -> None:
        for _ in range(CALLS):
            task.sample(rng, BATCH, length)

    pairs = task.sample(rng, BATCH, length)  # compiles, or loads what an earlier run compiled
    inputs = [symbols for symbols, _ in pairs.symbols(task.input_alphabet, task.output_alphabet)]
    seconds = measure(sample, repeats=repeats)
    oracle = measure(lambda: [task.oracle(symbols) for symbols in inputs], repeats=1)
    median = 1e3 * seconds["median"] / CALLS
    claim = CLAIM_MS.get(length)
    return {
        "task": name,
        "length": length,
        "min_ms": round(1e3 * seconds["min"] / CALLS, 4),
        "median_ms": round(median, 4),
        "oracle_ms": round(1e3 * oracle["min"], 4),
        "claim_ms": claim,
        "passed": None if claim is None else median < claim,
    }


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=15)
    repeats = parser.parse_args().repeats

    print(f"{'task':<34}{'length':>8}{'min':>10}{'median':>10}{'oracle':>10}  ms", file=sys.stderr)
    results = []
    for name in tasks.names("chomsky/"):
        for length in LENGTHS:
            row = sampling(name, length, repeats)
            results.append(row)
            verdict = {True: "pass", False: "FAIL", None: ""}[row["passed"]]
            columns = f"{row['min_ms']:>10.3f}{row['median_ms']:>10.3f}{row['oracle_ms']:>10.1f}"
            print(f"{name:<34}{length:>8}{columns}  {verdict}", file=sys.stderr)
    report("samplers", {"batch": BATCH, "repeats": repeats, "calls_per_repeat": CALLS, "results": results})
    return 0 if all(row["passed"] is not False for row in results) else 1


if __name__ == "__main__":
    sys.exit(main())
