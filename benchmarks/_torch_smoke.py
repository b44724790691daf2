"""Every road of PyTorch members once, at a tiny size on a GPU, compared with plain steps: `torch_members.py --smoke`.

Prints one JSON line for each check, with the differences, or the error and its last places. Takes about 20 seconds.
"""

import argparse
import itertools
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch_members import job_of, said, short, tried

from humboldt.training.base import Road, Schedule
from humboldt.training.engines.torch import _training
from humboldt.training.pytorch import roads
from humboldt.training.pytorch.graphs import Graphs
from humboldt.training.pytorch.recording import CudaRecorder, MemberRandom, recorded
from humboldt.training.pytorch.stacked import Stack

MODULES = ("lstm", "gru", "transformer", "gated_recurrence", "encoder_decoder", "dropping")
OPTIMISERS: dict[str, dict[str, Any]] = {
    "sgd": {"optimiser": "sgd"},
    "nesterov": {"optimiser": "sgd", "momentum": 0.9, "nesterov": True},
    "adamw": {"optimiser": "adamw"},
}
STEPS = 3
REFUSED = ("encoder_decoder, float32, graphs",)  # packing reads the lengths of rows from the device


def smoke(options: argparse.Namespace) -> None:
    """Runs all checks."""
    options.device = "cuda" if torch.cuda.is_available() else "cpu"
    options.members, options.hidden_size, options.batch_size, options.length, options.steps = 3, 16, 4, 5, 60
    checks: list[tuple[str, Callable[[], dict[str, Any]]]] = []
    if options.device == "cuda":
        checks = [("random numbers on two streams", two_streams), ("a recording that fails", failed_recording)]
    taken: tuple[Road, ...] = ("stacked", "graphs")
    for module, precision, road in itertools.product(MODULES, ("float32", "bfloat16"), taken):
        if precision == "float32" or module in ("lstm", "transformer"):
            case = partial(compared, options, module, precision, road)
            checks.append((f"{module}, {precision}, {road}", case))
    for (name, optimiser), road in itertools.product(OPTIMISERS.items(), taken):
        case = partial(compared, options, "gru", "float32", road, schedule=Schedule(8, start=0.1), **optimiser)
        checks.append((f"gru, {name}, {road}", case))
    checks.append(("chosen by a trial", lambda: chosen(options)))
    begin, failed = time.monotonic(), {}
    for name, check in checks:
        now = time.monotonic()
        try:
            found = check()
        except Exception as error:
            found = {"ok": name in REFUSED, "error": short(error)}
        said({"smoke": name, **found, "seconds": round(time.monotonic() - now, 2)})
        if not found["ok"]:
            failed[name] = {key: str(value)[:250] for key, value in found.items() if key != "ok"}
        if time.monotonic() - begin > options.seconds:
            said({"smoke": "left out", "ok": False, "reason": f"{options.seconds:.0f} seconds have passed"})
            break
    said({"smoke": "all", "checks": len(checks), "failed": failed})


def compared(options: argparse.Namespace, module: str, precision: str, road: Road, **recipe: Any) -> dict[str, Any]:
    """Compares steps of a road with plain ones, as the trial of a run does, then two calls with plain steps."""
    job = job_of(module, options, precision)
    job = replace(job, road=road, recipe=replace(job.recipe, **recipe))
    trial = tried(job)
    training, rates = _training(job), np.ones(len(job.members))
    batches, learners = training.batches(0, 2 * STEPS), [training.fresh(member) for member in training.members]
    expected = []
    with training.caller.exactly():
        for number in range(len(learners)):
            learner = training.fresh(job.members[number])
            examples = [training._examples(batch, number) for batch in batches]
            expected.append([loss for loss, _ in training._span(learner, number, 0, examples)])
        program: Any = Stack(training) if road == "stacked" else Graphs(training)
        losses = [program.advance(learners, first, batches[first : first + STEPS], rates)[0] for first in (0, STEPS)]
    found, plain = np.concatenate(losses, 1), np.array(expected)
    difference = float(np.abs(found / plain - 1).max())
    not_recorded = getattr(program, "not_recorded", None)
    is_right = difference < roads.tolerances(training)[0]
    told = {"not_recorded": not_recorded[:300]} if not_recorded else {}
    return {"ok": is_right and "refused" not in trial and not told, "largest_difference": difference, **trial, **told}


def chosen(options: argparse.Namespace) -> dict[str, Any]:
    """Chooses a road by a trial."""
    training = _training(replace(job_of("lstm", options, "float32"), road="auto"))
    choice = roads.choose(training)
    return {"ok": True, "choice": [choice.road, round(choice.gain, 2), *choice.refusals], "told": choice.told(training)}


def _draws(device: torch.device, seed: int, count: int) -> torch.Tensor:
    torch.manual_seed(seed)
    return torch.stack([torch.rand(4096, device=device) for _ in range(count)])


def two_streams() -> dict[str, Any]:
    """Replays graphs that draw random numbers on two streams, and compares with what each would draw alone."""
    device, count, place = torch.device("cuda"), 40, {}
    for seed in (1, 2):
        recorder, random = CudaRecorder(device), MemberRandom(device)
        with torch.random.fork_rng([device]):
            torch.manual_seed(seed)
            random.load({"cpu": torch.get_rng_state(), "cuda": torch.cuda.get_rng_state(device)})
        drawn, number = torch.zeros(count, 4096, device=device), torch.zeros(1, dtype=torch.int64, device=device)

        def work(random: MemberRandom = random, drawn: torch.Tensor = drawn, number: torch.Tensor = number) -> None:
            with random.active():
                drawn.index_copy_(0, number, torch.rand(4096, device="cuda")[None])
            number.add_(1)

        with recorder.running():
            place[seed] = recorder, drawn, recorded(recorder, work, [drawn, number], [random], warm_up=2)
    for _ in range(count):
        for recorder, _, replay in place.values():
            with recorder.running():
                replay()
    right = {}
    for seed, (recorder, drawn, _) in place.items():
        recorder.wait()
        with torch.random.fork_rng([device]):
            right[f"seed_{seed}"] = bool(torch.equal(drawn, _draws(device, seed, count)))
    return {"ok": all(right.values()), **right}


def failed_recording() -> dict[str, Any]:
    """Records work that reads a number from the device, with and without the check before, then draws and records."""
    device, sentences = torch.device("cuda"), []
    x = torch.zeros(3, device=device)
    for warm_up in (1, 0):
        recorder, random = CudaRecorder(device), MemberRandom(device)

        def reads(random: MemberRandom = random) -> None:
            with random.active():
                x.add_(torch.rand(3, device="cuda") * float(x.sum()))

        try:
            with recorder.running():
                recorded(recorder, reads, [x], [random], warm_up=warm_up)
        except Exception as error:
            sentences.append(f"{type(error).__name__}: {str(error).splitlines()[0][:150]}")
    torch.rand(3, device=device)
    again = two_streams()
    return {"ok": len(sentences) == 2 and again["ok"], "sentences": sentences}
