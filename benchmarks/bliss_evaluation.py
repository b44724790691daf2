"""How long it takes to evaluate a 32-unit LSTM on a^n b^n, against padded batches of the same strings.

    python benchmarks/bliss_evaluation.py                    10,000 strings, n = 21 to 10,020: 10^8 symbols
    python benchmarks/bliss_evaluation.py --strings 1000 --baseline

The weights are random, so the LSTM fails at once; `exhaustive` makes the evaluation read everything nevertheless. With
`--baseline` the same strings are also read in the plain way, each from its beginning, in padded batches in order of
length, by the same LSTM, and the error counts of both ways are held equal.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # products this small only lose by threads

import argparse
import resource
import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from _record import measure, report

from humboldt.core.stepping import Stepper
from humboldt.languages.bliss import Measure, get
from humboldt.measures.bliss import evaluate
from humboldt.models import models
from humboldt.models.stepping import make_stepper

EPSILONS = (0.005, 0.0)


def padded_batches(test_set, model: Stepper, batch: int) -> dict[str, int]:
    """Errors by M_det, and by M_cat at each margin, the plain way."""
    errors = dict.fromkeys(["M_det", *(f"M_cat {epsilon:g}" for epsilon in EPSILONS)], 0)
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
        for epsilon in EPSILONS:
            wrong = ((predictions.astype(np.float64) > epsilon) != valid).any(2)
            errors[f"M_cat {epsilon:g}"] += int((real & wrong).sum())
    return errors


def timed(work: Callable[[], Any], repeats: int) -> tuple[Any, dict[str, float]]:
    """The last result, and seconds: on the wall, and the fewest on the processor, which other work does not slow."""
    results, busy = [], []

    def once() -> None:
        began = time.process_time()
        results[:] = [work()]
        busy.append(time.process_time() - began)

    seconds = measure(once, repeats=repeats)
    return results[0], {**{key: round(value, 2) for key, value in seconds.items()}, "processor": round(min(busy), 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--strings", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--baseline", action="store_true", help="also read the strings in padded batches")
    parser.add_argument("--batch", type=int, default=256, help="strings in a batch of the baseline")
    options = parser.parse_args()
    language = get("an_bn")
    vocabulary = len(language.input_alphabet)
    network = models.get("torch_lstm")(hidden_size=32).build(
        vocabulary, vocabulary, num_symbols=vocabulary, key=jax.random.key(0)
    )
    test_set = language.test_set(after=20, count=options.strings)
    stepper, rows = make_stepper(network, int(test_set.lengths.max()), most_cells=0)

    found, ours = timed(lambda: evaluate(test_set, stepper, exhaustive=True, most_rows=rows), options.repeats)
    record = {
        "language": "an_bn",
        "strings": options.strings,
        "largest_n": 20 + options.strings,
        "symbols": found.symbols,
        "prefixes": found.prefixes,
        "seconds": ours,
        "peak_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "load_average": round(os.getloadavg()[0], 1),
    }
    if options.baseline:
        errors, theirs = timed(lambda: padded_batches(test_set, stepper, options.batch), options.repeats)
        assert errors["M_det"] == found.score(Measure.DETERMINISTIC, 0.0).errors
        for epsilon in EPSILONS:
            assert errors[f"M_cat {epsilon:g}"] == found.score(Measure.CATEGORICAL, epsilon).errors
        ratios = {key: round(theirs[key] / ours[key], 2) for key in ("min", "processor")}
        record |= {"padded_batch": options.batch, "padded_seconds": theirs, "ratio": ratios}
    report("bliss_evaluation", record)


if __name__ == "__main__":
    main()
