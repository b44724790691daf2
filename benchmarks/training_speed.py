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
import subprocess
import time
from pathlib import Path
from typing import Any

import jax
import numpy as np
from _record import measure, report

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


class Reference:
    """The released code in a process of its own, which waits between rounds."""

    def __init__(self, options: argparse.Namespace, steps: int) -> None:
        self.sizes, self.steps = REFERENCE_SIZES[options.model], steps
        script = Path(__file__).with_name("_released_training.py")
        arguments = [str(options.reference.resolve()), options.model, str(options.batch), options.lengths, str(steps)]
        self.process = subprocess.Popen(
            [str(options.reference_python), str(script), *arguments, json.dumps(self.sizes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.versions = json.loads(self._answer())
        self.round()  # compiles

    def _answer(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("The released code has stopped: what it says is above.")
        return line

    def round(self) -> tuple[float, float]:
        """The seconds of one round, of the clock and of the processor."""
        assert self.process.stdin is not None
        self.process.stdin.write("round\n")
        self.process.stdin.flush()
        wall, cpu = map(float, self._answer().split())
        return wall, cpu


def side_by_side(work: Any, ours_steps: int, options: argparse.Namespace) -> dict[str, Any]:
    """Rounds of ours and of theirs in turn, and the ratios: of steps per second, and of processor time per step."""
    reference = Reference(options, ours_steps)
    work()
    ours, theirs, cpu = [], [], []
    for _ in range(options.repeats):
        begun, used = time.perf_counter(), time.process_time()
        work()
        ours.append(ours_steps / (time.perf_counter() - begun))
        used = time.process_time() - used
        wall, their_cpu = reference.round()
        theirs.append(ours_steps / wall)
        cpu.append(their_cpu / used)
    commit = ["git", "-C", str(options.reference), "rev-parse", "HEAD"]
    rates = {name: {"best": max(r), "median": statistics.median(r)} for name, r in (("o", ours), ("r", theirs))}
    return {
        "rounds": options.repeats,
        "ours_steps_per_second": {key: round(rate, 1) for key, rate in rates["o"].items()},
        "reference_steps_per_second": {key: round(rate, 1) for key, rate in rates["r"].items()},
        "ratio": {key: round(rates["o"][key] / rates["r"][key], 2) for key in ("best", "median")},
        "ratio_of_processor_time": round(statistics.median(cpu), 2),
        "reference": {
            "commit": subprocess.run(commit, capture_output=True, text=True, check=True).stdout.strip(),
            "versions": reference.versions,
            "sizes": reference.sizes,
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="rnn")
    parser.add_argument("--members", type=int, default=1)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--lengths", default="5,10,20,40")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--precision", default="float32", choices=["float32", "bfloat16"])
    parser.add_argument("--reference", type=Path, help="a checkout of the released code, to run beside ours")
    parser.add_argument("--reference-python", type=Path, help="the Python of its environment")
    parser.add_argument("--unroll", type=int, help="time steps per turn of the loop on an accelerator")
    options = parser.parse_args()
    if options.reference and (not options.reference_python or options.members > 1):
        parser.error("--reference needs --reference-python, and trains one member")
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
    chunk = ensemble.chunk(0)
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
        report("training_speed", {**about, **side_by_side(work, ensemble.chunk_steps, options)})
        return
    seconds = measure(work, repeats=options.repeats)
    rates = {key: ensemble.chunk_steps / seconds[key] for key in ("min", "median")}
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
