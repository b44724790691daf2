"""How fast are the members of a PyTorch module trained together? Beside a bare loop, and beside members in turn.

    python benchmarks/torch_members.py [--members 2] [--rounds 4] [--steps 100] [--hidden-size 64] [--device cpu]

A round has three parts, in changing order: a bare PyTorch loop of one member, as a user writes it; all members in turn;
all members by the road that the engine chooses (on a CPU, processes with one core each). Ours hold everything that
`humboldt run` does for a step, with the data; the trial of the road is not timed. Prints one JSON record with
model-steps a second of every part, and the processor load before each round, since other work changes them all.
"""

import argparse
import os
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from _record import report
from torch import nn

import humboldt
from humboldt.core.events import Silent
from humboldt.models.own import register_reference
from humboldt.storage.checkpoints import Checkpoints
from humboldt.suites import resolving
from humboldt.training.base import Job
from humboldt.training.engines.torch import _training
from humboldt.training.loop import Loop
from humboldt.training.pytorch.parallel import num_workers
from humboldt.training.pytorch.train import ModuleStepper

EXAMPLES = Path(__file__).parents[1] / "examples"
MODULES = {"gru": "pytorch_gru.py:GRU", "transformer": "pytorch_transformer.py:Transformer"}


def bare(job: Job) -> float:
    """Returns the seconds of a bare loop of one member, with the same batches."""
    training = _training(job)
    module = training.fresh(job.members[0]).module
    optimiser = torch.optim.Adam(module.parameters(), 1e-3)
    begin = time.perf_counter()
    with torch.random.fork_rng():
        for step in range(job.recipe.steps):
            batch = training._examples(job.problem.batch(step), 0)
            optimiser.zero_grad()
            mask = batch.target_mask
            loss = nn.functional.cross_entropy(module(batch.tokens)[mask], batch.targets[mask])
            loss.backward()
            nn.utils.clip_grad_norm_(module.parameters(), 1.0)
            optimiser.step()
    return time.perf_counter() - begin


def ours(job: Job) -> float:
    """Returns the seconds of our loop for all members."""
    stepper = ModuleStepper(_training(job), Silent())
    stepper.begin()
    if len(job.members) > 1:
        stepper._decide()
    with tempfile.TemporaryDirectory() as folder:
        loop = Loop(stepper, job.recipe, job.problem)
        begin = time.perf_counter()
        loop.run(Checkpoints(Path(folder)), Silent())
        seconds = time.perf_counter() - begin
    stepper.close()
    return seconds


def main() -> None:
    """Runs all parts and prints the record."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--members", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--hidden-size", type=int, default=64)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    torch.set_num_threads(1)
    results: dict[str, Any] = {}
    for name, reference in MODULES.items():
        model = register_reference(str(EXAMPLES / reference))
        settings = {"hidden_size": options.hidden_size, "steps": options.steps, "device": options.device}
        study = humboldt.plan(
            "chomsky", tasks="reverse_string", models=model, seeds=options.members, settings=settings, preset="quick"
        )
        (experiment,) = study.experiments
        together = study.suite.job(resolving.resolved(experiment), experiment.members)
        in_turn = replace(together, cores=1)
        parts = {"bare": lambda j=in_turn: bare(j), "in turn": lambda j=in_turn: ours(j)}
        parts["together"] = lambda j=together: ours(j)
        bare(in_turn)  # the first time is slower
        rounds: list[dict[str, float]] = []
        for number in range(options.rounds):
            rates = {"load": round(os.getloadavg()[0], 2)}
            for part in list(parts)[:: -1 if number % 2 else 1]:
                count = 1 if part == "bare" else options.members
                rates[part] = round(count * options.steps / parts[part](), 2)
            rounds.append(rates)
        median = {part: statistics.median(one[part] for one in rounds) for part in parts}
        results[name] = {
            "processes": num_workers(_training(together)),
            "rounds": rounds,
            "median_model_steps_per_second": median,
            "median_together_over_in_turn": statistics.median(one["together"] / one["in turn"] for one in rounds),
            "median_in_turn_over_bare": statistics.median(one["in turn"] / one["bare"] for one in rounds),
        }
    report(
        "torch_members",
        {
            "members": options.members,
            "steps": options.steps,
            "hidden_size": options.hidden_size,
            "device": options.device,
            "cores": len(os.sched_getaffinity(0)),
            "torch": torch.__version__,
            "modules": results,
        },
    )


if __name__ == "__main__":
    main()
