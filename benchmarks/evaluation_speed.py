"""Seconds to score one network that was not trained on Parity Check, lengths 41..500, 512 strings each.

    python benchmarks/evaluation_speed.py [--model rnn] [--task parity_check] [--longest 500] [--repeats 1]

With `--reference CHECKOUT --reference-python ENVIRONMENT/bin/python` the released code of Delétang et al. (2023) does
the same beside it: a round of ours, a round of theirs, and so on. Every round compiles anew, on both sides. The
released code compiles at every length, so that a round takes minutes. How to make the environment is said in
`tests/agreement/make.py`.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
from _record import report
from _reference import Reference, add_options

from humboldt.suites import catalogue, plans, resolving, suites
from humboldt.suites.chomsky.problem import Transduction
from humboldt.suites.experiments import Request
from humboldt.training.abilities import CountsRight, ability

REFERENCE_MODELS = "rnn", "lstm"  # of the released code; the others have memories whose sizes would have to be chosen


def ours(options: argparse.Namespace) -> tuple[Transduction, Callable[[], None]]:
    """The test, and what scores a network on all of it."""
    suite = suites.get("chomsky")
    (experiment,) = plans.plan(suite, Request((options.task,), (options.model,), "paper"))
    parts = resolving.resolved(experiment)
    predictor, _ = catalogue.engine_of(parts.contender).sample(suite.job(parts, experiment.members[:1]))
    first, _ = parts.protocol.test_lengths
    problem = Transduction(parts.task, replace(parts.protocol, test_lengths=(first, options.longest)))

    def work() -> None:
        for _, _, batch in problem.test_batches():
            ability(predictor, CountsRight).correct(batch)

    return problem, work


def seconds(work: Callable[[], None]) -> tuple[float, float]:
    """Of one round, of the clock and of the processor."""
    jax.clear_caches()
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def summary(rounds: list[tuple[float, float]]) -> dict[str, Any]:
    wall, cpu = zip(*rounds, strict=True)
    return {
        "seconds_with_compilation": round(statistics.median(wall), 1),
        "processor_seconds": round(statistics.median(cpu), 1),
        "seconds_of_each_round": [round(value, 1) for value in wall],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="rnn")
    parser.add_argument("--task", default="parity_check")
    parser.add_argument("--longest", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=1)
    add_options(parser)
    options = parser.parse_args()
    if options.reference and options.model not in REFERENCE_MODELS:
        parser.error(f"--reference runs {', '.join(REFERENCE_MODELS)}, not {options.model}")
    problem, work = ours(options)
    lengths, strings = problem.protocol.test_lengths, problem.protocol.strings_per_length
    about = {
        "model": options.model,
        "task": options.task,
        "strings": strings * len(problem.protocol.scored_lengths()),
        "lengths": lengths,
        "rounds": options.repeats,
    }
    if not options.reference:
        report("evaluation_speed", {**about, **summary([seconds(work) for _ in range(options.repeats)])})
        return
    sizes = {"hidden_size": 256}
    arguments = options.model, options.task, *map(str, (*lengths, strings)), json.dumps(sizes)
    reference = Reference(options, "_released_evaluation.py", *arguments)
    pairs = [(seconds(work), reference.ask("round")) for _ in range(options.repeats)]
    here, there = (summary(list(rounds)) for rounds in zip(*pairs, strict=True))
    ratios = {
        "ratio": there["seconds_with_compilation"] / here["seconds_with_compilation"],
        "ratio_of_processor_time": there["processor_seconds"] / here["processor_seconds"],
    }
    ratios = {name: round(value, 2) for name, value in ratios.items()}
    report("evaluation_speed", {**about, **here, **ratios, "reference": {**reference.about(), "sizes": sizes, **there}})


if __name__ == "__main__":
    main()
