"""How fast are the members of a PyTorch module trained, by every road, beside a bare loop of one member?

    python benchmarks/torch_members.py --device cuda                      # 30 members of five modules, on a GPU
    python benchmarks/torch_members.py --device cuda --module transformer --profile
    python benchmarks/torch_members.py --smoke                            # every road once at a tiny size, on a GPU
    taskset -c 14,15 python benchmarks/torch_members.py --two-members     # two members on two idle cores
    python benchmarks/torch_members.py --hidden-size 8 --batch-size 8 --length 10 --members 4 --steps 40

Prints one JSON line for the machine, then one for each row as it comes: a bare PyTorch loop of one member, as a user
writes it, or all members by one road. Both have everything that is done for a step, with the data and the optimiser;
ours also have curves, checks for divergence and progress. Trials, recording and the last checkpoint are not timed. A
row that fails has the error, and one that does not begin within `--seconds` is left out with a line that says so.
`--plain linear` leaves a function as `vmap` has it, in place of the kernel for all members; `--profile` adds the
kernels that took most of the time of some steps, in microseconds of a step.
"""

import argparse
import gc
import json
import statistics
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import torch
from _record import machine
from torch import nn

import humboldt
from humboldt.core.events import AbstractSink, Progress, Silent, Warned
from humboldt.models.own import register_reference
from humboldt.storage.checkpoints import Checkpoints
from humboldt.suites import resolving
from humboldt.training.base import Job, Road
from humboldt.training.engines.torch import _training
from humboldt.training.loop import Loop
from humboldt.training.pytorch import fused, roads
from humboldt.training.pytorch.arithmetic import own_products
from humboldt.training.pytorch.train import Members, ModuleStepper, Together, Training
from humboldt.training.spans import SPAN_STEPS, Call

OWN = Path(__file__).parent / "_torch_modules.py"
TRANSFORMER = Path(__file__).parents[1] / "examples" / "pytorch_transformer.py"
PLACES = {
    "lstm": f"{OWN}:LSTM",
    "gru": f"{OWN}:GRU",
    "transformer": f"{TRANSFORMER}:Transformer",
    "gated_recurrence": f"{OWN}:GatedRecurrence",
    "encoder_decoder": f"{OWN}:EncoderDecoder",
    "dropping": f"{OWN}:Dropping",
}
MEASURED = [  # on a GPU, the most important ones first
    ("lstm", "float32", ("stacked", "graphs")),
    ("lstm", "bfloat16", ("stacked", "graphs")),
    ("gru", "float32", ("stacked", "graphs")),
    ("transformer", "float32", ("stacked",)),
    ("gated_recurrence", "float32", ("stacked",)),
    ("encoder_decoder", "float32", ("stacked",)),
]
FORMS = {func.__name__: func for func in fused.FORMS}
PROFILED_STEPS, PROFILED_KERNELS = 40, 18
BARE_WARM_UP = 10  # steps of the bare loop before those that are timed


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


def bare(job: Job, steps: int) -> float:
    """Returns steps a second of a bare loop of one member, with the same batches and the same precision."""
    training = _training(job)
    with own_products(training.caller.device, exact=job.recipe.exact_products):
        return _bare(job, training, steps)


def _bare(job: Job, training: Training, steps: int) -> float:
    module, device = training.fresh(job.members[0]).module, training.caller.device
    optimiser = torch.optim.Adam(module.parameters(), 1e-3)
    is_half, begin = job.recipe.precision != "float32", 0.0
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        for step in range(-BARE_WARM_UP, steps):
            if step == 0:
                _wait(device)
                begin = time.perf_counter()
            batch = training._examples(job.problem.batch(step % steps), 0)
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
    return steps / (time.perf_counter() - begin)


class Watch(AbstractSink):
    """Notes the time after every call of the stepper, and what a user would be told."""

    def __init__(self) -> None:
        self.times: list[tuple[int, float]] = []
        self.sentences: list[str] = []

    def send(self, event: Any) -> None:
        """Notes the steps that are done, and warnings."""
        if isinstance(event, Progress):
            self.times.append((event.done, time.perf_counter()))
        elif isinstance(event, Warned):
            self.sentences.append(event.message)

    def should_stop(self) -> bool:
        """Returns false."""
        return False


class Unsaved(Checkpoints):
    """Saves nothing: files are not measured here."""

    def save(self, *args: Any, **named: Any) -> None:
        """Does nothing."""
        del args, named


def tried(job: Job) -> dict[str, Any]:
    """Compares a few steps by a road with plain ones, as the trial of a run does. `refused`: the sentence, if a run
    would not take this road."""
    training = _training(job)
    with training.caller.exactly():
        plain = roads._Plain(training)
        try:
            seconds = plain.compared(job.road)
        except roads.Differs as error:
            return {"refused": str(error), **plain.differences}
    return {"trial_gain": round(plain.seconds * len(job.members) / seconds, 2), **plain.differences}


def stepper_of(job: Job) -> Members:
    """Returns the members, ready for their first timed step: a step for batches of every shape has been recorded."""
    training, rates = _training(job), np.ones(len(job.members))
    if job.road not in roads.WORDS:
        stepper = ModuleStepper(training, Watch())
        stepper.begin()
        if job.road == "processes":
            stepper._decide()
        return stepper
    stepper = Together(training, Watch(), job.road, SPAN_STEPS)
    stepper.begin()
    batches = {(batch.tokens.shape, batch.targets.shape): batch for batch in training.batches(0, job.recipe.steps)}
    stepper.advance(Call(0, 0, 0, len(batches), len(batches)), list(batches.values()), rates)
    return stepper


def ours(stepper: Members, job: Job) -> float:
    """Returns model-steps a second of our loop for all members, between its first call and its last."""
    stepper.check = lambda sink: None  # of a module before its first step
    with tempfile.TemporaryDirectory() as folder:
        loop, watch = Loop(stepper, job.recipe, job.problem), Watch()
        begin = time.perf_counter()
        loop.run(Unsaved(Path(folder)), watch)
    (first, begin), (last, end) = watch.times[0] if len(watch.times) > 1 else (0, begin), watch.times[-1]
    return (last - first) * len(job.members) / (end - begin)


def profiled(stepper: Members, job: Job) -> dict[str, Any]:
    """Returns the kernels that took most of the time, in microseconds of a step, and how often each ran."""
    steps = min(PROFILED_STEPS, job.recipe.steps)
    call, data, rates = Call(0, 0, 0, steps, steps), stepper.data(0, steps), np.ones(len(job.members))
    activity = torch.profiler.ProfilerActivity
    is_gpu = stepper.training.caller.device.type == "cuda"
    with torch.profiler.profile(activities=[activity.CUDA if is_gpu else activity.CPU]) as profile:
        begin = time.perf_counter()
        stepper.advance(call, data, rates)
        whole = time.perf_counter() - begin
    found: Any = profile.key_averages()
    times = [(event.self_device_time_total if is_gpu else event.self_cpu_time_total, event) for event in found]
    shown = [
        [round(took / steps, 1), round(event.count / steps, 2), event.key[:110]]
        for took, event in sorted(times, key=lambda pair: -pair[0])[:PROFILED_KERNELS]
    ]
    busy = round(sum(took for took, _ in times) / steps)
    return {"microseconds": round(1e6 * whole / steps), "of_kernels": busy, "kernels": shown}


def of_road(job: Job, *, with_profile: bool = False) -> dict[str, Any]:
    """Measures one road of one module."""
    row = tried(job) if job.road in roads.WORDS else {}
    stepper = stepper_of(job)
    try:
        row["model_steps_per_second"] = round(ours(stepper, job), 1)
        if isinstance(stepper, Together):
            row["road_at_the_end"] = stepper.road
            row["not_recorded"] = [getattr(program, "not_recorded", None) for _, program in stepper.programs]
        assert isinstance(stepper.sink, Watch)
        if stepper.sink.sentences:
            row["told"] = stepper.sink.sentences
        if with_profile:
            row["profile"] = profiled(stepper, job)
    finally:
        stepper.close()
    if stepper.training.caller.device.type == "cuda":
        row["peak_gigabytes"] = round(torch.cuda.max_memory_allocated() / 1e9, 2)
    return row


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _free() -> None:
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def rows(options: argparse.Namespace) -> Iterator[tuple[dict[str, Any], Callable[[], dict[str, Any]]]]:
    """Yields what each row is about, and a function that measures it."""
    every: list[tuple[str, str, tuple[Road, ...]]] = [
        (module, precision, kept)
        for module, precision, named in MEASURED
        if module in (options.module or PLACES) and precision in (options.precision or [precision])
        for kept in [tuple(options.road or (named if options.device == "cuda" else ("in_turn", "stacked")))]
    ]
    for module, precision, taken in every:
        job, measured = job_of(module, options, precision), []

        def of_bare(job: Job = job, measured: list[float] = measured) -> dict[str, Any]:
            measured.append(bare(job, options.bare_steps))
            return {"model_steps_per_second": round(measured[-1], 1)}

        about = {"module": module, "precision": precision}
        yield {**about, "part": "bare"}, of_bare
        for road in taken:

            def of_one(job: Job = job, road: Road = road, measured: list[float] = measured) -> dict[str, Any]:
                row = of_road(replace(job, road=road), with_profile=options.profile)
                return {**row, "times_bare": round(row["model_steps_per_second"] / max(measured), 2)}

            yield {**about, "part": road, "members": options.members}, of_one
        yield {**about, "part": "bare, again"}, of_bare


def said(row: dict[str, Any]) -> None:
    """Prints a row at once."""
    print(json.dumps(row), flush=True)


def short(error: BaseException) -> str:
    """Returns an error with its last places."""
    places = traceback.extract_tb(error.__traceback__)[-4:]
    where = " > ".join(f"{Path(place.filename).name}:{place.lineno} {place.name}" for place in places)
    cause = f" | from {short(error.__cause__)}" if error.__cause__ else ""
    return f"{type(error).__name__}: {str(error).strip()[:400]} | {where}{cause}"


def two_members(options: argparse.Namespace) -> dict[str, Any]:
    """Measures two members in parallel and one after the other, in turns."""
    job = job_of("gru", options, "float32")
    steppers = {road: stepper_of(replace(job, road=road)) for road in ("in_turn", "processes")}
    results = []
    for number in range(options.rounds):
        order = list(steppers)[:: -1 if number % 2 else 1]
        rates = {road: round(_whole(steppers[road], job), 2) for road in order}
        results.append({**rates, "ratio": round(rates["processes"] / rates["in_turn"], 3)})
    for stepper in steppers.values():
        stepper.close()
    return {"rounds": results, "median_ratio": statistics.median(one["ratio"] for one in results)}


def _whole(stepper: Members, job: Job) -> float:
    """Returns model-steps a second of a whole training."""
    stepper.check = lambda sink: None
    with tempfile.TemporaryDirectory() as folder:
        loop = Loop(stepper, job.recipe, job.problem)
        begin = time.perf_counter()
        loop.run(Checkpoints(Path(folder)), Silent())
        return job.recipe.steps * len(job.members) / (time.perf_counter() - begin)


def main() -> None:
    """Runs all rows and prints them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--smoke", action="store_true", help="every road once at a tiny size, on a GPU")
    parser.add_argument("--two-members", action="store_true", help="processes beside members in turn, on two cores")
    parser.add_argument("--module", action="append", choices=list(PLACES))
    parser.add_argument("--precision", action="append", choices=["float32", "bfloat16"])
    parser.add_argument("--road", action="append", choices=["in_turn", "threads", "processes", "stacked", "graphs"])
    parser.add_argument("--plain", action="append", choices=list(FORMS), default=[], help="a function without a kernel")
    parser.add_argument("--profile", action="store_true", help="the kernels that took most of the time, on a GPU")
    parser.add_argument("--members", type=int)
    parser.add_argument("--rounds", type=int, default=5, help="of --two-members")
    parser.add_argument("--steps", type=int, default=200, help="of a road; those after the first 100 are timed")
    parser.add_argument("--bare-steps", type=int, default=60)
    parser.add_argument("--hidden-size", type=int)
    parser.add_argument("--batch-size", type=int)
    parser.add_argument("--length", type=int, help="of strings; a network reads twice as many symbols")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seconds", type=float, default=160.0, help="after which no further row begins")
    options = parser.parse_args()
    begin = time.monotonic()
    members, hidden, batch, length = (2, 128, 32, 20) if options.two_members else (30, 256, 128, 40)
    options.members, options.hidden_size = options.members or members, options.hidden_size or hidden
    options.batch_size, options.length = options.batch_size or batch, options.length or length
    for name in options.plain:
        del fused.FORMS[FORMS[name]]
    torch.set_num_threads(1)
    is_gpu = torch.cuda.is_available()
    gpu = {"gpu": torch.cuda.get_device_name(), "cuda": torch.version.cuda} if is_gpu else {}
    tf32 = {"tf32_of_cudnn": is_gpu, "tf32_of_products": is_gpu}  # of both sides; see `own_products`
    said(
        {
            "benchmark": "torch_members",
            "command": "python " + " ".join(sys.argv),
            "date": datetime.now(UTC).date().isoformat(),
            "machine": machine(),
            "torch": torch.__version__,
            **gpu,
            **tf32,
            **{name: vars(options)[name] for name in ("members", "hidden_size", "batch_size", "length", "steps")},
        }
    )
    if options.smoke:
        options.seconds = min(options.seconds, 60.0)
        from _torch_smoke import smoke

        smoke(options)
        return
    if options.two_members:
        said(two_members(options))
        return
    speeds = {}
    for about, measure in rows(options):
        now = time.monotonic()
        if now - begin > options.seconds:
            said({**about, "left_out": f"{options.seconds:.0f} seconds have passed"})
            continue
        try:
            row = measure()
        except Exception as error:
            row = {"error": short(error)}
        said({**about, **row, "row_seconds": round(time.monotonic() - now, 1)})
        name = ", ".join(about[key] for key in ("module", "precision", "part"))
        speeds[name] = row.get("model_steps_per_second", row.get("error", "")[:200])
        _free()
    said({"model_steps_per_second": speeds, "seconds": round(time.monotonic() - begin, 1)})


if __name__ == "__main__":
    main()
