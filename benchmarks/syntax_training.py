"""Training speed of the syntax suite's models: strings per second, of one member and of all together.

Batches of 512 strings of 4 to 30 symbols, as in the paper. The baseline is one member trained alone with the same code.

    python benchmarks/syntax_training.py [--model lstm] [--members 30] [--terminals 2] [--precision float32]
"""

import argparse

import jax
from _record import measure, report

from humboldt.suites import plans, resolving, suites
from humboldt.suites.experiments import Request
from humboldt.training.engines.jax import make_ensemble
from humboldt.training.ensemble.stream import make_chunk


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="lstm")
    parser.add_argument("--task", default="nested_dependency")
    parser.add_argument("--members", type=int, default=30)
    parser.add_argument("--terminals", default="2")
    parser.add_argument("--sizes", default="stated")
    parser.add_argument("--precision", default="float32", choices=["float32", "bfloat16"])
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    settings = {name: getattr(options, name) for name in ("terminals", "sizes", "precision")}
    suite = suites.get("syntax")
    (experiment,) = plans.plan(suite, Request((options.task,), (options.model,), "paper", options.members, settings))
    parts = resolving.resolved(experiment)

    def rate(members: int) -> dict[str, float]:
        ensemble = make_ensemble(suite.job(parts, experiment.members[:members]))
        chunk = make_chunk(ensemble.problem.batch, 0, options.steps, options.steps, ensemble.buckets)
        state = [ensemble.fresh().learners]

        def work() -> None:
            state[0], _ = jax.block_until_ready(ensemble.advance(state[0], chunk))

        seconds = measure(work, repeats=options.repeats)
        strings = options.steps * parts.protocol.batch_size
        return {
            "members": members,
            "compile_seconds": round(seconds["first"] - seconds["median"], 2),
            "milliseconds_per_step": round(1000 * seconds["min"] / options.steps, 2),
            "strings_per_second_per_member": round(strings / seconds["min"], 1),
            "strings_per_second": round(members * strings / seconds["min"], 1),
            "paper_training_seconds": round(parts.protocol.steps * seconds["min"] / options.steps, 1),
        }

    alone, together = rate(1), rate(options.members)
    report(
        "syntax_training",
        {
            "model": options.model,
            "task": options.task,
            "terminals": int(options.terminals),
            "sizes": options.sizes,
            "precision": options.precision,
            "batch": parts.protocol.batch_size,
            "ensemble": together,
            "baseline_one_member": alone,
            "speed_up": round(together["strings_per_second"] / alone["strings_per_second"], 1),
        },
    )


if __name__ == "__main__":
    main()
