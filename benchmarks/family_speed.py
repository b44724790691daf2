"""Training steps per second of every family beside our LSTM, at equal numbers of parameters, on strings of 5 to 40.

    python benchmarks/family_speed.py [--parameters 60000] [--batch 32] [--rounds 3] [--model family/mamba ...]

Sizes are those that come nearest to the number of parameters. All networks take turns, round by round, so that other
work on the machine slows all of them; the record has the best and the median round. `slower` is the time of a step
divided by that of the LSTM.
"""

import argparse
import statistics
import time
from typing import Any

import equinox as eqx
import jax
from _record import report
from training_speed import Reversal

from humboldt.errors import UsageError
from humboldt.models import models
from humboldt.training.base import MemberRecipe, Recipe
from humboldt.training.ensemble.train import Ensemble

LSTM = "family/lstm"


def network(spec: Any, key: Any) -> Any:
    """Builds the network of a family for string reversal."""
    return spec.build(3, 2, num_symbols=2, key=key)


def parameters(spec: Any) -> int:
    """Counts the parameters without computing them."""
    shapes = eqx.filter_eval_shape(lambda key: network(spec, key), jax.random.key(0))
    return sum(leaf.size for leaf in jax.tree.leaves(eqx.filter(shapes, eqx.is_inexact_array_like)) if leaf.shape)


def sized(name: str, wanted: int) -> tuple[Any, int]:
    """Returns the settings of a family whose number of parameters is nearest to `wanted`, and that number."""
    family = models.get(name)
    best: tuple[Any, int] | None = None
    for size in range(8, 400, 8):
        try:
            spec = family(**{family.size: size})
            count = parameters(spec)
        except (UsageError, ValueError):  # a size that the heads cannot share
            continue
        if best is None or abs(count - wanted) < abs(best[1] - wanted):
            best = spec, count
        if count > 2 * wanted:
            break
    assert best is not None, name
    return best


class Turn:
    """One network, and how long its rounds took."""

    def __init__(self, name: str, wanted: int, batch: int) -> None:
        self.name = name
        self.spec, self.count = sized(name, wanted)
        self.ensemble = Ensemble(
            build=lambda key: network(self.spec, key),
            members=[MemberRecipe(0, 1e-3)],
            recipe=Recipe(steps=8),
            problem=Reversal(batch, [5, 10, 20, 40]),
        )
        self.chunk = self.ensemble.chunk(0, self.ensemble.call_steps)
        self.state = self.ensemble.fresh().learners
        self.compile_seconds = self.round()
        self.seconds: list[float] = []

    def round(self) -> float:
        """Trains for one call of the program; returns the seconds of a step."""
        begin = time.perf_counter()
        self.state, _ = jax.block_until_ready(self.ensemble.advance(self.state, self.chunk))
        return (time.perf_counter() - begin) / self.ensemble.call_steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parameters", type=int, default=60_000)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--model", action="append", help="families beside the LSTM; by default all")
    options = parser.parse_args()
    names = options.model or [name for name in models.names() if name.startswith("family/") and name != LSTM]
    turns, failed = [], {}
    for name in [LSTM, *names]:
        try:
            turns.append(Turn(name, options.parameters, options.batch))
        except (UsageError, TypeError, AttributeError) as error:
            failed[name] = str(error)
    for _ in range(options.rounds):
        for turn in turns:
            turn.seconds.append(turn.round())
    base = {"best": min(turns[0].seconds), "median": statistics.median(turns[0].seconds)}
    rows = {}
    for turn in turns:
        best, median = min(turn.seconds), statistics.median(turn.seconds)
        rows[turn.name] = {
            "size": getattr(turn.spec, turn.spec.size),
            "parameters": turn.count,
            "steps_per_second": {"best": round(1 / best, 2), "median": round(1 / median, 2)},
            "slower": {"best": round(best / base["best"], 2), "median": round(median / base["median"], 2)},
        }
    about = {"batch": options.batch, "time_steps": [10, 20, 40, 80], "rounds": options.rounds}
    report("family_speed", {**about, "families": rows, **({"failed": failed} if failed else {})})


if __name__ == "__main__":
    main()
