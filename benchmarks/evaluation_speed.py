"""Seconds to score one RNN on Parity Check over the lengths 41..500, 512 strings each.

The baseline is the released implementation of Delétang et al. (2023), which compiles at every length: 271 seconds on
two cores of the same kind of machine.

    python benchmarks/evaluation_speed.py [--model rnn] [--task parity_check]
"""

import argparse
import time

import equinox as eqx
import jax
from _record import report

from humboldt.suites._base import Request
from humboldt.suites._chomsky_training import build, evaluation_batches
from humboldt.suites.chomsky import Chomsky
from humboldt.training import evaluate
from humboldt.training._members import stack_weights


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="rnn")
    parser.add_argument("--task", default="parity_check")
    options = parser.parse_args()
    suite = Chomsky()
    (experiment,) = suite.plan(Request([options.task], [options.model], "paper"))
    cell = suite.cell(experiment.run)
    _, static = eqx.partition(build(cell, jax.random.key(0)), eqx.is_inexact_array)
    weights = stack_weights(lambda key: build(cell, key), [0])
    begin = time.perf_counter()
    rows = 0
    for _, _, batch in evaluation_batches(cell):
        (correct,) = evaluate(weights, static, iter([batch]))
        rows += correct.shape[1]
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
