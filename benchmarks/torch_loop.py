"""What does our loop around a PyTorch module cost? The same batches and steps as in a bare PyTorch loop, in turns.

    python benchmarks/torch_loop.py [--rounds 12] [--steps 60] [--hidden-size 256] [--threads 1] [--bare-threads 1]
    python benchmarks/torch_loop.py --as-run [--module transformer] [--hidden-size 64 ...]
    python benchmarks/torch_loop.py --two-threads [--module transformer] [--hidden-size 64 ...]

A round of ours holds everything that `humboldt run` does for each step: losses, accuracy, the check that all is finite,
random numbers of the member's own, progress. Prints one JSON record with the ratio ours / bare of every round.

Both use `--threads` threads, and `--bare-threads` changes those of the bare loop. With `--as-run`, ours uses the
threads that `humboldt run` takes for one member, and the bare loop PyTorch's own number: one record for each hidden
size. With `--two-threads`, both are a bare loop, with one thread and with two: how much larger than 1 the ratio is says
from which size on a second thread is worthwhile (`FEWEST_PRODUCTS`).
"""

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from _record import report
from torch import nn

import humboldt
from humboldt.core.events import Silent
from humboldt.models.own import register_model, register_reference
from humboldt.suites import resolving
from humboldt.training.base import Job
from humboldt.training.engines.torch import _training
from humboldt.training.pytorch.roads import _products, choose

TRANSFORMER = Path(__file__).parents[1] / "examples" / "pytorch_transformer.py"


class GRU(nn.Module):
    """As in examples/pytorch_gru.py."""

    def __init__(self, input_size: int, output_size: int, hidden_size: int = 256) -> None:
        super().__init__()
        self.embedding = nn.Embedding(input_size, hidden_size)
        self.gru = nn.GRU(hidden_size, hidden_size, batch_first=True)
        self.readout = nn.Linear(hidden_size, output_size)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.readout(self.gru(self.embedding(tokens))[0])


def job_of(module: str, hidden_size: int, steps: int) -> Job:
    """Returns the job of one member of a module: reverse_string, with the paper's batches."""
    place = f"{TRANSFORMER}:Transformer"
    name = register_reference(place) if module == "transformer" else register_model("benchmark:GRU", GRU)
    settings = {"learning_rates": (1e-3,), "hidden_size": hidden_size, "steps": steps, "device": "cpu"}
    study = humboldt.plan("chomsky", tasks="reverse_string", models=name, preset="paper", seeds=1, settings=settings)
    (experiment,) = study.experiments
    return study.suite.job(resolving.resolved(experiment), experiment.members)


class Pair:
    """Our loop and a bare one, with the same batches and initial weights."""

    def __init__(self, job: Job, steps: int) -> None:
        self.training, self.member = _training(job), job.members[0]
        self.batches = [self.training._examples(job.problem.batch(step), 0) for step in range(steps)]

    def ours(self, threads: int) -> float:
        """Returns the seconds of our loop."""
        self.training.threads = threads
        learner, sink = self.training.fresh(self.member), Silent()
        begin = time.perf_counter()
        self.training._span(learner, 0, 0, self.batches)
        sink.should_stop()
        return time.perf_counter() - begin

    def bare(self, threads: int) -> float:
        """Returns the seconds of a bare loop."""
        torch.set_num_threads(threads)
        module = self.training.fresh(self.member).module
        optimiser = torch.optim.Adam(module.parameters(), 1e-3)
        module.train()
        begin = time.perf_counter()
        for batch in self.batches:
            optimiser.zero_grad()
            loss = nn.functional.cross_entropy(
                module(batch.tokens)[batch.target_mask], batch.targets[batch.target_mask]
            )
            loss.backward()
            nn.utils.clip_grad_norm_(module.parameters(), 1.0)
            optimiser.step()
        return time.perf_counter() - begin


def rounds(first: Callable[[], float], second: Callable[[], float], names: tuple[str, str], count: int) -> Any:
    """Does two kinds of work in turns; returns their times, and the median of the ratio of the first to the second."""
    for work in (first, second):
        work()  # the first time is slower
    results: list[dict[str, float]] = []
    for number in range(count):
        pair = (first(), second()) if number % 2 else (second(), first())[::-1]
        times = dict(zip(names, (round(one, 4) for one in pair), strict=True))
        results.append({**times, "ratio": round(pair[0] / pair[1], 4)})
    return {"rounds": results, "median_ratio": statistics.median(one["ratio"] for one in results)}


def main() -> None:
    """Runs both and prints the records."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--module", choices=["gru", "transformer"], default="gru")
    parser.add_argument("--hidden-size", type=int, nargs="+", default=[256])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--bare-threads", type=int, help="of the bare loop; as many as ours without it")
    parser.add_argument("--as-run", action="store_true", help="ours as `humboldt run`, the bare loop with all threads")
    parser.add_argument("--two-threads", action="store_true", help="a bare loop with one thread and with two")
    options = parser.parse_args()
    default = torch.get_num_threads()
    for hidden_size in options.hidden_size:
        job = job_of(options.module, hidden_size, options.steps)
        pair, threads, bare_threads = Pair(job, options.steps), options.threads, options.bare_threads or options.threads
        torch.set_num_threads(default)
        if options.as_run:
            whole = replace(job, recipe=replace(job.recipe, steps=10_000))  # a short training has one thread
            threads, bare_threads = choose(_training(whole)).threads, default
        if options.two_threads:
            threads, bare_threads = 1, 2
        first = partial(pair.bare if options.two_threads else pair.ours, threads)
        names = ("one_thread", "two_threads") if options.two_threads else ("ours", "bare")
        found = rounds(first, partial(pair.bare, bare_threads), names, options.rounds)
        report(
            "torch_loop",
            {
                "steps": options.steps,
                "module": options.module,
                "hidden_size": hidden_size,
                "products": _products(pair.training),
                "threads": threads,
                "bare_threads": bare_threads,
                "torch": torch.__version__,
                **found,
            },
        )


if __name__ == "__main__":
    main()
