"""How long it takes to evaluate a 32-unit LSTM on a^n b^n, against padded batches of the same strings.

    python benchmarks/bliss_evaluation.py                    10,000 strings, n = 21 to 10,020: 10^8 symbols
    python benchmarks/bliss_evaluation.py --strings 1000 --baseline

The weights are random, so the LSTM fails at once; `exhaustive` makes the evaluation read everything nevertheless. With
`--baseline` the same strings are also read in the plain way, each from its beginning, in padded batches in order of
length, by the same LSTM, and the error counts of both ways are held equal. Prints one JSON record.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # products this small only lose by threads

import argparse
import datetime
import json
import platform
import resource
import time
from collections.abc import Callable
from typing import TypeVar

import numba
import numpy as np
from numba import njit

import humboldt
from humboldt.languages.bliss import Measure, get
from humboldt.measures.bliss import evaluate

T = TypeVar("T")
HIDDEN = 32
CHUNK = 512  # rows whose gates fit the cache
HALF, ONE = np.float32(0.5), np.float32(1)


class Lstm:
    """Single precision. A sigmoid is a shifted tanh, so that one call does all gates; weights hold the factor 1/2."""

    def __init__(self, vocabulary: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.recurrent = rng.normal(0, 0.3, (HIDDEN, 4 * HIDDEN)).astype(np.float32)
        self.embedding = rng.normal(0, 0.3, (vocabulary, 4 * HIDDEN)).astype(np.float32)
        self.readout = rng.normal(0, 1, (HIDDEN, vocabulary)).astype(np.float32)
        self._gates = np.empty((CHUNK, 4 * HIDDEN), np.float32)

    def init(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros((count, HIDDEN), np.float32), np.zeros((count, HIDDEN), np.float32)

    def step(self, state, symbols: np.ndarray):
        for first in range(0, len(symbols), CHUNK):
            hidden, cell = (array[first : first + CHUNK] for array in state)
            gates = self._gates[: len(hidden)]
            np.matmul(hidden, self.recurrent, out=gates)
            add_inputs(gates, self.embedding, symbols[first : first + CHUNK])
            np.tanh(gates, out=gates)
            update_cell(gates, cell)
            np.tanh(cell, out=hidden)
            apply_output_gate(gates, hidden)
        scores = state[0] @ self.readout
        np.exp(scores, out=scores)
        scores /= scores.sum(1, keepdims=True)
        return state, scores

    def take(self, state, rows: np.ndarray):
        return state[0][rows], state[1][rows]


@njit(fastmath=True)
def add_inputs(gates, embedding, symbols):
    for row in range(len(symbols)):
        values, inputs = gates[row], embedding[symbols[row]]
        for j in range(4 * HIDDEN):
            values[j] += inputs[j]


@njit(fastmath=True)
def update_cell(gates, cell):
    for row in range(len(cell)):
        enter, keep, new = gates[row, :HIDDEN], gates[row, HIDDEN : 2 * HIDDEN], gates[row, 3 * HIDDEN :]
        values = cell[row]
        for j in range(HIDDEN):
            values[j] = HALF * ((ONE + keep[j]) * values[j] + (ONE + enter[j]) * new[j])


@njit(fastmath=True)
def apply_output_gate(gates, hidden):
    for row in range(len(hidden)):
        leave, values = gates[row, 2 * HIDDEN : 3 * HIDDEN], hidden[row]
        for j in range(HIDDEN):
            values[j] = HALF * (ONE + leave[j]) * values[j]


def padded_batches(test_set, model: Lstm, epsilons, batch: int) -> dict[str, int]:
    """Errors by M_det, and by M_cat at each margin, the plain way."""
    errors = dict.fromkeys(["M_det", *(f"M_cat {epsilon:g}" for epsilon in epsilons)], 0)
    for first in range(0, len(test_set), batch):
        n = test_set.lengths[first : first + batch] // 2
        time_axis = np.arange(2 * n.max() + 1)
        # In a^n b^n, position t of the input `# a^n b^n` holds a for 0 < t <= n and b for n < t <= 2n.
        real = time_axis <= 2 * n[:, None]
        inputs = np.where(time_axis <= n[:, None], 1, 2) * (time_axis > 0)
        deterministic = real & (time_axis > n[:, None])
        target = np.where(time_axis == 2 * n[:, None], 0, 2)
        valid = np.zeros((*real.shape, 3), bool)
        valid[..., 1] = time_axis <= n[:, None]
        valid[..., 2] = (time_axis > 0) & (time_axis < 2 * n[:, None])
        valid[..., 0] = time_axis == 2 * n[:, None]
        predictions = np.empty((*real.shape, 3), np.float32)
        state = model.init(len(n))
        for t in time_axis:
            state, predictions[:, t] = model.step(state, inputs[:, t])
        errors["M_det"] += int((deterministic & (predictions.argmax(2) != target)).sum())
        for epsilon in epsilons:
            wrong = ((predictions.astype(np.float64) > epsilon) != valid).any(2)
            errors[f"M_cat {epsilon:g}"] += int((real & wrong).sum())
    return errors


def timed(function: Callable[[], T], repeats: int) -> tuple[T, list[float], list[float]]:
    """The last result, and the seconds on the wall and on the processor of each repeat."""
    wall, cpu = [], []
    while True:
        began, busy = time.perf_counter(), time.process_time()
        result = function()
        wall.append(time.perf_counter() - began)
        cpu.append(time.process_time() - busy)
        if len(wall) >= repeats:
            return result, wall, cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--strings", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--baseline", action="store_true", help="also read the strings in padded batches")
    parser.add_argument("--batch", type=int, default=256, help="strings in a batch of the baseline")
    options = parser.parse_args()
    language = get("an_bn")
    epsilons = (0.005, 0.0)
    model = Lstm(len(language.input_alphabet), seed=0)

    began = time.perf_counter()
    warm = language.test_set(after=20, count=20)
    evaluate(warm, model, exhaustive=True)
    compiled = time.perf_counter() - began

    test_set = language.test_set(after=20, count=options.strings)
    found, ours, cpu = timed(lambda: evaluate(test_set, model, exhaustive=True), options.repeats)
    record = {
        "benchmark": "bliss_evaluation",
        "language": "an_bn",
        "strings": options.strings,
        "largest_n": 20 + options.strings,
        "symbols": found.symbols,
        "prefixes": found.prefixes,
        "seconds_min": round(min(ours), 2),
        "seconds_median": round(float(np.median(ours)), 2),
        "cpu_seconds_min": round(min(cpu), 2),
        "compile_seconds": round(compiled, 2),
        "peak_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "load_average": round(os.getloadavg()[0], 1),
    }
    if options.baseline:
        padded_batches(warm, model, epsilons, options.batch)
        errors, theirs, theirs_cpu = timed(
            lambda: padded_batches(test_set, model, epsilons, options.batch), options.repeats
        )
        assert errors["M_det"] == found.score(Measure.DETERMINISTIC, 0.0).errors
        for epsilon in epsilons:
            assert errors[f"M_cat {epsilon:g}"] == found.score(Measure.CATEGORICAL, epsilon).errors
        record |= {
            "padded_batch": options.batch,
            "padded_seconds_min": round(min(theirs), 2),
            "padded_cpu_seconds_min": round(min(theirs_cpu), 2),
            "ratio": round(min(theirs) / min(ours), 2),
            "cpu_ratio": round(min(theirs_cpu) / min(cpu), 2),
        }
    record |= {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "versions": {
            "humboldt": humboldt.__version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "numba": numba.__version__,
        },
        "date": datetime.date.today().isoformat(),
    }
    print(json.dumps(record))


if __name__ == "__main__":
    main()
