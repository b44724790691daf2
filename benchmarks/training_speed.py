"""Training steps per second on a string-reversal-sized problem, lengths 5, 10, 20 and 40 in turn.

One step reads `2 L` time steps of a batch of 128.

    python benchmarks/training_speed.py [--model rnn] [--members 1] [--lengths 5,10,20,40]

With `--reference CHECKOUT --reference-python ENVIRONMENT/bin/python` the released code of Delétang et al. (2023) runs
beside it: a round of ours, a round of theirs, and so on, so that other work on the machine slows both. Memories have
sizes that lose nothing on strings of 40: a stack of 81 cells, a tape of 128. How to make the environment is said in
`tests/agreement/make.py`.
"""

import argparse
import json
import statistics
import time
from typing import Any

import jax
import numpy as np
from _record import measure, report
from _reference import Reference, add_options

from humboldt.languages import Batch, Pairs, ProblemKind, frame_transduction
from humboldt.models import models
from humboldt.models.loop import unroll
from humboldt.training.base import AbstractProblem, MemberRecipe, Recipe
from humboldt.training.ensemble.train import Ensemble

REFERENCE_SIZES = {  # of the released code, which calls them so
    "rnn": {"hidden_size": 256},
    "lstm": {"hidden_size": 256},
    "stack_rnn": {"hidden_size": 256, "stack_cell_size": 8, "stack_size": 81},
    "tape_rnn": {"hidden_size": 256, "memory_cell_size": 8, "memory_size": 128},
}


class Reversal(AbstractProblem):
    """Random strings of the given lengths in turn, backwards."""

    kind = ProblemKind.TRANSDUCTION
    symbols, input_size, output_size, num_symbols = ("a", "b"), 3, 2, 2

    def __init__(self, batch_size: int, lengths: list[int]) -> None:
        self.batch_size, self.lengths = batch_size, lengths
        self.longest = 2 * max(lengths)
        self.buckets = tuple(sorted({2 * length for length in lengths}))

    def batch(self, step: int) -> Batch:
        shape = self.batch_size, self.lengths[step % len(self.lengths)]
        strings = np.random.default_rng(step).integers(0, 2, shape)
        return frame_transduction(Pairs.full(strings, strings[:, ::-1]), 2)


def side_by_side(work: Any, ours_steps: int, options: argparse.Namespace) -> dict[str, Any]:
    """Rounds of ours and of theirs in turn, and the ratios: of steps per second, and of processor time per step."""
    sizes = REFERENCE_SIZES[options.model]
    arguments = options.model, str(options.batch), options.lengths, str(ours_steps), json.dumps(sizes)
    reference = Reference(options, "_released_training.py", *arguments)
    reference.ask("round")  # compiles
    work()
    ours, theirs, cpu = [], [], []
    for _ in range(options.repeats):
        begun, used = time.perf_counter(), time.process_time()
        work()
        ours.append(ours_steps / (time.perf_counter() - begun))
        used = time.process_time() - used
        wall, their_cpu = reference.ask("round")
        theirs.append(ours_steps / wall)
        cpu.append(their_cpu / used)
    rates = {name: {"best": max(r), "median": statistics.median(r)} for name, r in (("o", ours), ("r", theirs))}
    return {
        "rounds": options.repeats,
        "ours_steps_per_second": {key: round(rate, 1) for key, rate in rates["o"].items()},
        "reference_steps_per_second": {key: round(rate, 1) for key, rate in rates["r"].items()},
        "ratio": {key: round(rates["o"][key] / rates["r"][key], 2) for key in ("best", "median")},
        "ratio_of_processor_time": round(statistics.median(cpu), 2),
        "reference": {**reference.about(), "sizes": sizes},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="rnn")
    parser.add_argument("--members", type=int, default=1)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--lengths", default="5,10,20,40")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--precision", default="float32", choices=["float32", "bfloat16"])
    add_options(parser)
    parser.add_argument("--unroll", type=int, help="time steps per turn of the loop on an accelerator")
    options = parser.parse_args()
    if options.reference and options.members > 1:
        parser.error("--reference trains one member")
    if options.reference and options.model not in REFERENCE_SIZES:
        parser.error(f"--reference runs {', '.join(REFERENCE_SIZES)}, not {options.model}")
    if options.unroll:
        unroll.UNROLL = options.unroll
    lengths = [int(length) for length in options.lengths.split(",")]
    spec = models.get(options.model)()
    ensemble = Ensemble(
        build=lambda key: spec.build(3, 2, num_symbols=2, key=key),
        members=[MemberRecipe(seed, 1e-3) for seed in range(options.members)],
        recipe=Recipe(steps=20, precision=options.precision),
        problem=Reversal(options.batch, lengths),
    )
    chunk = ensemble.chunk(0, ensemble.call_steps)
    state = [ensemble.fresh().learners]

    def work() -> None:
        state[0], _ = jax.block_until_ready(ensemble.advance(state[0], chunk))

    about = {
        "model": options.model,
        "members": options.members,
        "batch": options.batch,
        "precision": options.precision,
        "time_steps": [2 * length for length in lengths],
    }
    if options.reference:
        report("training_speed", {**about, **side_by_side(work, ensemble.call_steps, options)})
        return
    seconds = measure(work, repeats=options.repeats)
    rates = {key: ensemble.call_steps / seconds[key] for key in ("min", "median")}
    report(
        "training_speed",
        {
            **about,
            "compile_seconds": round(seconds["first"] - seconds["median"], 2),
            "steps_per_second": {"best": round(rates["min"], 1), "median": round(rates["median"], 1)},
            "model_steps_per_second": round(options.members * rates["min"], 1),
        },
    )


if __name__ == "__main__":
    main()
