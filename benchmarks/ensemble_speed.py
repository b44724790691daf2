"""Model-steps per second of ensembles on an accelerator: kernels and plain programs of one run side by side.

30 members, batch 128, hidden 256 (Transformers: 5 layers, width 64, 8 heads), strings of 40 symbols (80 time steps),
100 steps a call as in training, with optimiser and the copy of the batches to the device. Every row is measured in
turns: a round by one road, a round by the other. The road without kernels is called `scan`, of Transformers, too.

    python benchmarks/ensemble_speed.py [--rows rnn,lstm] [--members 30] [--repeats 5]
"""

import argparse
import json
import statistics
import time
from typing import Any, NamedTuple

import jax
from _record import report
from training_speed import Reversal

from humboldt.models import models
from humboldt.training.base import Job, MemberRecipe, Precision, Recipe, engines
from humboldt.training.engines.jax import arithmetic_of, make_ensemble


class Row(NamedTuple):
    """One row of the table: a model in one precision."""

    model: str
    precision: Precision = "float32"
    settings: tuple[tuple[str, Any], ...] = ()


ROWS = {
    "rnn": Row("rnn"),
    "rnn-bfloat16": Row("rnn", "bfloat16"),
    "lstm": Row("lstm"),
    "lstm-bfloat16": Row("lstm", "bfloat16"),
    "gru": Row("family/gru", settings=(("hidden_size", 256),)),
    "stack_rnn": Row("stack_rnn"),
    "stack_rnn-bfloat16": Row("stack_rnn", "bfloat16"),
    "tape_rnn": Row("tape_rnn"),
    "transformer": Row("transformer_encoder", settings=(("positions", "none"),)),
    "transformer-relative": Row("transformer_encoder", settings=(("positions", "relative"),)),
    "rnn-wide": Row("rnn", settings=(("hidden_size", 384),)),  # more than a kernel takes: the scan
}


class Road:
    """An ensemble that is trained by one road."""

    def __init__(self, row: Row, fused: bool, options: argparse.Namespace) -> None:
        members = tuple(MemberRecipe(seed, 1e-3) for seed in range(options.members))
        recipe = Recipe(steps=options.steps, precision=row.precision)
        lengths = [int(length) for length in options.lengths.split(",")]
        model = models.get(row.model)(**dict(row.settings))
        job = Job(model, Reversal(options.batch, lengths), recipe, members, fused=fused)
        self.arithmetic, self.ensemble, self.seconds = arithmetic_of(job), make_ensemble(job), []
        engine = engines.get("jax")
        environment, self.plan = engine.environment_of(job), engine.road(job)
        self.is_fused = any("fused" in environment.get(what, "") for what in ("loop", "attention"))
        begun = time.perf_counter()
        self.chunk = self.ensemble.chunk(0, self.ensemble.call_steps)
        self.data_seconds = time.perf_counter() - begun
        self.learners = self.ensemble.fresh().learners

    def round(self) -> None:
        """Does the steps of one call."""
        begun = time.perf_counter()
        with self.arithmetic.used():
            self.learners, self.curve = jax.block_until_ready(self.ensemble.advance(self.learners, self.chunk))
        self.seconds.append(time.perf_counter() - begun)

    def record(self) -> dict[str, Any]:
        """Returns the rates; the first round compiles, the second one may still be slower."""
        compiling, seconds, steps = self.seconds[0], self.seconds[2:], self.ensemble.call_steps
        count = steps * self.ensemble.num_members
        return {
            "compile_seconds": round(compiling - statistics.median(seconds), 1),
            "model_steps_per_second": {
                "best": round(count / min(seconds)),
                "median": round(count / statistics.median(seconds)),
            },
            "milliseconds_of_a_step": round(1e3 * statistics.median(seconds) / steps, 3),
            "milliseconds_of_making_a_batch": round(1e3 * self.data_seconds / steps, 3),
            "median_loss": round(float(jax.numpy.median(self.curve.loss[:, -1])), 4),
            "diverged": int((self.learners.diverged_at >= 0).sum()),
        }


def measured(row: Row, options: argparse.Namespace) -> dict[str, Any]:
    """Runs a row by both roads in turn, or by the plain one alone if there is no kernel."""
    roads = {"fused": Road(row, True, options), "scan": Road(row, False, options)}
    plan = roads["fused"].plan
    if not roads["fused"].is_fused:
        del roads["fused"]
    for _ in range(options.repeats + 2):
        for road in roads.values():
            road.round()
    rates = {name: road.record() for name, road in roads.items()}
    ratio = {}
    if "fused" in rates:
        ours, theirs = (rates[name]["model_steps_per_second"]["median"] for name in ("fused", "scan"))
        ratio = {"times_as_fast": round(ours / theirs, 2)}
    return {
        "model": row.model,
        "settings": dict(row.settings),
        "members": options.members,
        "batch": options.batch,
        "precision": row.precision,
        "time_steps": [2 * int(length) for length in options.lengths.split(",")],
        "steps_of_a_call": options.steps,
        "plan": plan,
        **rates,
        **ratio,
    }


def options_of(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Returns the options of a command, with those of all sizes."""
    parser.add_argument("--members", type=int, default=30)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--lengths", default="40")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--set", default="{}", help="settings of all models, as JSON")
    return parser.parse_args()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default=",".join(ROWS))
    options = options_of(parser)
    for name in options.rows.split(","):
        row = ROWS.get(name) or Row(name)
        row = row._replace(settings=(*row.settings, *json.loads(options.set).items()))
        try:
            record = measured(row, options)
        except Exception as error:  # the other rows are still wanted
            record = {
                "model": row.model,
                "precision": row.precision,
                "error": f"{type(error).__name__}: {error}"[:2000],
            }
        report("ensemble_speed", record)
        jax.clear_caches()


if __name__ == "__main__":
    main()
