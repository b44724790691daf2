"""Training steps per second on a string-reversal-sized problem, lengths 5, 10, 20 and 40 in turn.

One step reads `2 L` time steps of a batch of 128. The baseline is the released implementation of Delétang et al. (2023)
on two cores of the same kind of machine: 36 (RNN), 12.6 (LSTM), 9.5 (Stack-RNN) and 2.1 (Tape-RNN) steps per second.

    python benchmarks/training_speed.py [--model rnn] [--members 1] [--lengths 5,10,20,40]
"""

import argparse

import jax
import numpy as np
from _record import measure, report

from humboldt.languages import Batch, Pairs, ProblemKind, frame_transduction
from humboldt.models import models
from humboldt.models.loop import unroll
from humboldt.training.base import AbstractProblem, MemberRecipe, Recipe
from humboldt.training.ensemble.train import Ensemble

BASELINE = {"rnn": 36.0, "lstm": 12.6, "stack_rnn": 9.5, "tape_rnn": 2.1}


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


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="rnn")
    parser.add_argument("--members", type=int, default=1)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--lengths", default="5,10,20,40")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--precision", default="float32", choices=["float32", "bfloat16"])
    parser.add_argument("--unroll", type=int, help="time steps per turn of the loop on an accelerator")
    options = parser.parse_args()
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
    chunk = ensemble.chunk(0)
    state = [ensemble.fresh().learners]

    def work() -> None:
        state[0], _ = jax.block_until_ready(ensemble.advance(state[0], chunk))

    seconds = measure(work, repeats=options.repeats)
    rates = {key: ensemble.chunk_steps / seconds[key] for key in ("min", "median")}
    report(
        "training_speed",
        {
            "model": options.model,
            "members": options.members,
            "batch": options.batch,
            "precision": options.precision,
            "time_steps": [2 * length for length in lengths],
            "compile_seconds": round(seconds["first"] - seconds["median"], 2),
            "steps_per_second": {"best": round(rates["min"], 1), "median": round(rates["median"], 1)},
            "model_steps_per_second": round(options.members * rates["min"], 1),
            "baseline_steps_per_second": BASELINE.get(options.model),
        },
    )


if __name__ == "__main__":
    main()
