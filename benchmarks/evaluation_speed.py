"""Seconds to score one RNN on Parity Check over the lengths 41..500, 512 strings each.

The baseline is the released implementation of Delétang et al. (2023), which compiles at every length: 271 seconds on
two cores of the same kind of machine.

    python benchmarks/evaluation_speed.py [--model rnn] [--task parity_check]
"""

import argparse
import time

from _record import report

from humboldt.suites import suites
from humboldt.suites.base import Request
from humboldt.suites.chomsky.problem import Transduction


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="rnn")
    parser.add_argument("--task", default="parity_check")
    options = parser.parse_args()
    suite = suites.get("chomsky")
    (experiment,) = suite.plan(Request((options.task,), (options.model,), "paper"))
    parts = suite.restore(experiment.training, experiment.evaluations[0])
    predictor, _ = suite.engine(parts.contender).sample(suite.job(parts, experiment.members[:1]))
    begin = time.perf_counter()
    rows = 0
    for _, _, batch in Transduction(parts.task, parts.protocol).test_batches():
        rows += predictor.correct(batch).shape[1]
    seconds = time.perf_counter() - begin
    report(
        "evaluation_speed",
        {
            "model": options.model,
            "task": options.task,
            "strings": rows,
            "lengths": [41, 500],
            "seconds_with_compilation": round(seconds, 1),
            "baseline_seconds": 271 if (options.model, options.task) == ("rnn", "parity_check") else None,
        },
    )


if __name__ == "__main__":
    main()
