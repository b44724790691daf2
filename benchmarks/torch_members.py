"""How fast are the members of a PyTorch module trained, by every road, beside a bare loop of one member?

    python benchmarks/torch_members.py --device cuda --members 30 --precision float32 --precision bfloat16
    python benchmarks/torch_members.py --hidden-size 8 --batch-size 8 --length 10 --members 10 --steps 20 --rounds 2

The first command measures all five modules on a GPU, the second one is small enough for two cores. A round has these
parts, in changing order: a bare PyTorch loop of one member, as a user writes it, then all members in turn, in
processes (on a CPU), stacked, and as CUDA graphs (on a GPU). Ours have everything that `humboldt run` does for a step,
with the data; trials, and the recording of graphs, are not timed. A road that a module does not allow is recorded with
the sentence that a user reads. Prints one JSON record with model-steps a second of every part, and the processor load
before each round, since other work changes them all.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from _record import report
from torch import nn

import humboldt
from humboldt.core.events import Silent
from humboldt.models.own import register_reference
from humboldt.storage.checkpoints import Checkpoints
from humboldt.suites import resolving
from humboldt.training.base import Job, Road
from humboldt.training.engines.torch import _training
from humboldt.training.loop import Loop
from humboldt.training.pytorch import roads
from humboldt.training.pytorch.parallel import num_workers
from humboldt.training.pytorch.train import Members, ModuleStepper, Together
from humboldt.training.spans import SPAN_STEPS, Call

OWN = Path(__file__).parent / "_torch_modules.py"
TRANSFORMER = Path(__file__).parents[1] / "examples" / "pytorch_transformer.py"
PLACES = {
    "lstm": f"{OWN}:LSTM",
    "gru": f"{OWN}:GRU",
    "transformer": f"{TRANSFORMER}:Transformer",
    "gated_recurrence": f"{OWN}:GatedRecurrence",
    "encoder_decoder": f"{OWN}:EncoderDecoder",
}


def job_of(module: str, options: argparse.Namespace, precision: Any) -> Job:
    """Returns the job of a module: reverse_string with strings of one length, or of all lengths for the Transformer;
    task_accuracy of pcfg_set for the encoder-decoder."""
    suite, task = ("pcfg_set", "task_accuracy") if module == "encoder_decoder" else ("chomsky", "reverse_string")
    settings: dict[str, Any] = {"device": options.device, "batch_size": options.batch_size}
    if suite == "chomsky":
        shortest = 1 if module == "transformer" else options.length
        settings |= {"train_lengths": (shortest, options.length), "hidden_size": options.hidden_size}
    if module == "transformer":
        settings |= {"num_layers": 5, "hidden_size": min(64, options.hidden_size)}
    study = humboldt.plan(
        suite,
        tasks=task,
        models=register_reference(PLACES[module]),
        seeds=options.members,
        settings=settings,
        preset="quick",
    )
    experiment = study.experiments[0]
    job = study.suite.job(resolving.resolved(experiment), experiment.members[:1])
    job.problem.milestones = ()
    members = tuple(replace(job.members[0], seed=seed) for seed in range(options.members))
    recipe = replace(job.recipe, steps=options.steps, precision=precision, restart_every=None)
    return replace(job, members=members, recipe=recipe, milestone=None)


def bare(job: Job) -> float:
    """Returns the seconds of a bare loop of one member, with the same batches."""
    training = _training(job)
    module, device = training.fresh(job.members[0]).module, training.caller.device
    optimiser = torch.optim.Adam(module.parameters(), 1e-3)
    is_half = job.recipe.precision != "float32"
    _wait(device)
    begin = time.perf_counter()
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        for step in range(job.recipe.steps):
            batch = training._examples(job.problem.batch(step), 0)
            optimiser.zero_grad()
            with torch.autocast(device.type, torch.bfloat16, enabled=is_half):
                if job.problem.start is None:
                    logits = module(batch.tokens)
                else:
                    start = torch.full_like(batch.targets[:, :1], job.problem.start)
                    logits = module(batch.tokens, torch.cat([start, batch.targets[:, :-1]], 1), batch.mask.sum(1))
            loss = nn.functional.cross_entropy(logits.float()[batch.target_mask], batch.targets[batch.target_mask])
            loss.backward()
            nn.utils.clip_grad_norm_(module.parameters(), 1.0)
            optimiser.step()
    _wait(device)
    return time.perf_counter() - begin


def stepper_of(job: Job) -> Members:
    """Returns the members, ready for their first timed step. Raises an exception if the module does not allow the
    road."""
    training, rates = _training(job), np.ones(len(job.members))
    if job.road not in roads.WORDS:
        stepper = ModuleStepper(training, Silent())
        stepper.begin()
        if job.road == "processes":
            stepper._decide()
        return stepper
    choice = roads.choose(training)
    if choice.road != job.road:
        raise RuntimeError(" ".join(choice.refusals))
    stepper = Together(training, Silent(), job.road, SPAN_STEPS)
    stepper.begin()
    last = min(SPAN_STEPS, job.recipe.steps)
    stepper.advance(Call(0, 0, 0, last, last), training.batches(0, last), rates)  # records graphs
    return stepper


def ours(stepper: Members, job: Job) -> float:
    """Returns the seconds of our loop for all members."""
    device = stepper.training.caller.device
    with tempfile.TemporaryDirectory() as folder:
        loop = Loop(stepper, job.recipe, job.problem)
        _wait(device)
        begin = time.perf_counter()
        loop.run(Checkpoints(Path(folder)), Silent())
        _wait(device)
        return time.perf_counter() - begin


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def measured(job: Job, rounds: int) -> dict[str, Any]:
    """Measures all parts of one module in turns."""
    names: list[Road] = ["in_turn", "stacked"]
    is_cpu = _training(job).caller.device.type == "cpu"
    if is_cpu and num_workers(_training(replace(job, road="processes"))) > 1:
        names.insert(1, "processes")
    if not is_cpu:
        names.append("graphs")
    parts: dict[str, Callable[[], float]] = {"bare": lambda: bare(job)}
    steppers: dict[str, Members] = {}
    refused = {}
    for road in names:
        try:
            steppers[road] = stepper_of(replace(job, road=road))
        except Exception as error:
            refused[road] = str(error)
            continue
        parts[road] = lambda road=road: ours(steppers[road], job)
    bare(job)  # the first time is slower
    results: list[dict[str, float]] = []
    for number in range(rounds):
        rates = {"load": round(os.getloadavg()[0], 2)}
        for part in list(parts)[:: -1 if number % 2 else 1]:
            count = 1 if part == "bare" else len(job.members)
            rates[part] = round(count * job.recipe.steps / parts[part](), 2)
        results.append(rates)
    for stepper in steppers.values():
        stepper.close()
    return {
        "rounds": results,
        "median_model_steps_per_second": {part: statistics.median(one[part] for one in results) for part in parts},
        "median_times_bare": {
            part: round(statistics.median(one[part] / one["bare"] for one in results), 2) for part in parts
        },
        "refused": refused,
    }


def main() -> None:
    """Runs all parts and prints the record."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--module", action="append", choices=list(PLACES))
    parser.add_argument("--precision", action="append", choices=["float32", "bfloat16"])
    parser.add_argument("--members", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--hidden-size", type=int, default=256)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--length", type=int, default=40, help="of strings; a network reads twice as many symbols")
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    torch.set_num_threads(1)
    results = {
        f"{module}, {precision}": measured(job_of(module, options, precision), options.rounds)
        for module in options.module or PLACES
        for precision in options.precision or ["float32"]
    }
    described = {name: value for name, value in vars(options).items() if name not in ("module", "precision")}
    is_gpu = torch.cuda.is_available()
    device = {"gpu": torch.cuda.get_device_name(), "tf32": torch.backends.cuda.matmul.allow_tf32} if is_gpu else {}
    report("torch_members", {**described, **device, "torch": torch.__version__, "modules": results})


if __name__ == "__main__":
    main()
