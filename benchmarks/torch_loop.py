"""What does our loop around a PyTorch module cost? The same batches and steps as in a bare PyTorch loop, in turns.

    python benchmarks/torch_loop.py [--rounds 12] [--steps 60] [--hidden-size 256] [--threads 1] [--bare-threads 1]

A round of ours holds everything that `humboldt run` does for each step: losses, accuracy, the check that all is finite,
random numbers of the member's own, progress. Prints one JSON record with the ratio ours / bare of every round.

Both use `--threads` threads: one, as `humboldt run` does by default. PyTorch's own default is all cores, which on an
idle machine is faster for large networks; `--bare-threads` of the cores measures what that is worth.
"""

import argparse
import os
import statistics
import time
from typing import Any

import torch
from _record import report
from torch import nn

import humboldt
from humboldt.core.events import Silent
from humboldt.models.own import register_model
from humboldt.suites import resolving
from humboldt.training.engines.torch import _training


class GRU(nn.Module):
    """As in examples/pytorch_gru.py."""

    def __init__(self, input_size: int, output_size: int, hidden_size: int = 256) -> None:
        super().__init__()
        self.embedding = nn.Embedding(input_size, hidden_size)
        self.gru = nn.GRU(hidden_size, hidden_size, batch_first=True)
        self.readout = nn.Linear(hidden_size, output_size)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.readout(self.gru(self.embedding(tokens))[0])


def main() -> None:
    """Runs both and prints the record."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--hidden-size", type=int, default=256)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--bare-threads", type=int, help="of the bare loop; as many as ours without it")
    options = parser.parse_args()
    threads, bare_threads = options.threads, options.bare_threads or options.threads
    os.environ["OMP_NUM_THREADS"] = str(threads)  # otherwise ours would use one
    name = register_model("benchmark:GRU", GRU)
    settings = {"learning_rates": (1e-3,), "hidden_size": options.hidden_size, "steps": options.steps}
    study = humboldt.plan("chomsky", tasks="reverse_string", models=name, preset="paper", seeds=1, settings=settings)
    (experiment,) = study.experiments
    job = study.suite.job(resolving.resolved(experiment), experiment.members)
    training = _training(job)
    batches = [training._examples(job.problem.batch(step), 0) for step in range(options.steps)]

    def ours() -> float:
        torch.set_num_threads(threads)
        learner, sink = training.fresh(job.members[0]), Silent()
        begin = time.perf_counter()
        training._span(learner, 0, 0, batches)
        sink.should_stop()
        return time.perf_counter() - begin

    def bare() -> float:
        torch.set_num_threads(bare_threads)
        module = GRU(job.problem.input_size, job.problem.output_size, options.hidden_size)
        optimiser = torch.optim.Adam(module.parameters(), 1e-3)
        module.train()
        begin = time.perf_counter()
        for batch in batches:
            optimiser.zero_grad()
            loss = nn.functional.cross_entropy(
                module(batch.tokens)[batch.target_mask], batch.targets[batch.target_mask]
            )
            loss.backward()
            nn.utils.clip_grad_norm_(module.parameters(), 1.0)
            optimiser.step()
        return time.perf_counter() - begin

    for work in (bare, ours):
        work()  # the first time is slower
    rounds: list[dict[str, Any]] = []
    for number in range(options.rounds):
        pair = (bare(), ours()) if number % 2 else (ours(), bare())[::-1]
        rounds.append({"bare": round(pair[0], 4), "ours": round(pair[1], 4), "ratio": round(pair[1] / pair[0], 4)})
    report(
        "torch_loop",
        {
            "steps": options.steps,
            "hidden_size": options.hidden_size,
            "threads": threads,
            "bare_threads": bare_threads,
            "torch": torch.__version__,
            "rounds": rounds,
            "median_ratio": statistics.median(one["ratio"] for one in rounds),
        },
    )


if __name__ == "__main__":
    main()
