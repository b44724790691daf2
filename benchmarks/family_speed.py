"""Training steps per second of every family beside our LSTM, at equal numbers of parameters, on strings of 5 to 40.

    python benchmarks/family_speed.py [--parameters 33280] [--batch 32] [--rounds 5] [--model family/mamba ...]

Sizes are those of `humboldt bench`: the body of each network has about so many parameters. All networks take turns,
round by round, so that other work on the machine slows all of them. `slower` is the time of a step divided by that of
the LSTM in the same round, the median over rounds: by the clock, and in processor time, which other work changes less.
"""

import argparse
import statistics
import time
from typing import Any

import jax
from _record import report
from training_speed import Reversal

from humboldt.models import models
from humboldt.running.budgets import size_for, size_of
from humboldt.suites.bench import BUDGETS, QUICK
from humboldt.training.base import MemberRecipe, Recipe
from humboldt.training.ensemble.train import Ensemble

LSTM = "family/lstm"


class Turn:
    """One network, and the seconds of a step in each of its rounds: by the clock, and of the processor."""

    def __init__(self, name: str, wanted: int, batch: int) -> None:
        self.name = name
        self.size = size_for(name, wanted)
        spec = models.get(name)(**self.size)
        self.ensemble = Ensemble(
            build=lambda key: spec.build(3, 2, num_symbols=2, key=key),
            members=[MemberRecipe(0, 1e-3)],
            recipe=Recipe(steps=8),
            problem=Reversal(batch, [5, 10, 20, 40]),
        )
        self.chunk = self.ensemble.chunk(0, self.ensemble.call_steps)
        begin = time.process_time()
        self.state = self.ensemble.fresh().learners
        self.rounds: list[tuple[float, float]] = []
        self.round()
        self.compilation = time.process_time() - begin
        self.rounds.clear()

    def round(self) -> None:
        """Trains for one call of the program."""
        begin = time.perf_counter(), time.process_time()
        self.state, _ = jax.block_until_ready(self.ensemble.advance(self.state, self.chunk))
        end = time.perf_counter(), time.process_time()
        self.rounds.append(((end[0] - begin[0]) / self._steps, (end[1] - begin[1]) / self._steps))

    @property
    def _steps(self) -> int:
        return self.ensemble.call_steps

    def record(self, base: "Turn") -> dict[str, Any]:
        """Returns sizes, speed, and how much slower a step is than one of `base`."""
        clock, processor = ([each[i] for each in self.rounds] for i in range(2))
        ratios = [
            statistics.median(own[i] / other[i] for own, other in zip(self.rounds, base.rounds, strict=True))
            for i in range(2)
        ]
        return {
            **self.size,
            "parameters": size_of(self.name, self.size).body,
            "steps_per_second": {"best": round(1 / min(clock), 1), "median": round(1 / statistics.median(clock), 1)},
            "processor_ms_per_step": round(1e3 * statistics.median(processor), 2),
            "slower": {"clock": round(ratios[0], 2), "processor": round(ratios[1], 2)},
            "compilation_processor_seconds": round(self.compilation, 1),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parameters", type=int, default=BUDGETS[QUICK])
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--model", action="append", help="families beside the LSTM; by default all")
    options = parser.parse_args()
    names = options.model or [name for name in models.names("family/") if name != LSTM]
    turns = [Turn(name, options.parameters, options.batch) for name in (LSTM, *names)]
    for _ in range(options.rounds):
        for turn in turns:
            turn.round()
    about = {"batch": options.batch, "time_steps": [10, 20, 40, 80], "rounds": options.rounds}
    about["steps_of_a_round"] = turns[0].ensemble.call_steps
    report("family_speed", {**about, "families": {turn.name: turn.record(turns[0]) for turn in turns}})


if __name__ == "__main__":
    main()
