"""Chooses how the members of a training do their steps, by a trial.

Roads: `stacked` (one module with a leading axis of members), `graphs` (a CUDA graph for each member), and on a CPU
`processes` (one core each), `threads` (in turn, each member on all cores) and `in_turn` (each on one core). `processes`
and `in_turn` give the same bits; the others differ from them in rounding.

On a CPU, `auto` takes one of the last three, and no time is measured: the same command gives the same bits, whatever
else the machine does. Those of several members do not depend on the number of cores either. On a GPU a trial compares a
few steps by each fast road with plain ones. If they differ or raise an exception, a sentence says so and the next road
is tried; if the fast road is not faster, it is not taken.
"""

import os
import time
from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import torch
from torch import nn
from torch.nn.parameter import UninitializedParameter

from humboldt.errors import HumboldtError, is_out_of_memory
from humboldt.languages import Batch
from humboldt.training.base import Road
from humboldt.training.pytorch.graphs import Graphs
from humboldt.training.pytorch.learner import Learner, own_random
from humboldt.training.pytorch.parallel import FEWEST_STEPS, TRIAL_STEPS, cores_of, num_workers
from humboldt.training.pytorch.recording import CannotRecord, attributes
from humboldt.training.pytorch.stacked import Stack, flat
from humboldt.training.spans import SPAN_STEPS

if TYPE_CHECKING:
    from humboldt.training.pytorch.train import Training

ROAD = "road"  # the name of the road's array in a checkpoint
TOGETHER: tuple[Road, ...] = ("in_turn", "stacked", "graphs")  # the roads in a checkpoint of all members together
WORDS: dict[Road, str] = {"stacked": "stacked as one module", "graphs": "trained as CUDA graphs"}

REASONS = {  # parts of PyTorch's messages, and what they mean for a user
    "synchronizing CUDA operation": "it reads numbers from the device in the middle of a step",
    "not permitted when stream is capturing": "it reads numbers from the device in the middle of a step",
    "data-dependent control flow": "its control flow depends on values of tensors",
    "escaped from inside a function being vmapped": "it computes tensors a second time (`torch.utils.checkpoint`)",
    "called random operation": "it draws random numbers other than those of dropout",
    "autograd.Function": "its custom autograd function has no batching rule (`generate_vmap_rule`)",
}
FEWEST_PRODUCTS = 5e6  # parameters times symbols of a batch, from which on a single member gains by several threads
MARGIN = 1.25  # how much faster than the next road a fast one must be, since its rounding differs
CALL_SECONDS = 5.0  # of a call, during which training cannot be stopped
TOLERANCE, HALF_TOLERANCE = 1e-3, 0.05  # of losses, in single and in half precision
CHANGE_TOLERANCE, HALF_CHANGE_TOLERANCE = 0.1, 0.6  # of the norm of the weights' changes; Adam magnifies rounding


class Program(Protocol):
    """Performs the steps of all members together."""

    def advance(self, learners: Sequence[Learner], first: int, data: Sequence[Batch], rates: np.ndarray) -> np.ndarray:
        """Does consecutive steps; returns losses and accuracies, shape `(2, member, step)`. If it raises an exception,
        the learners are unchanged."""
        ...


class Choice(NamedTuple):
    """The road of a training.

    - `gain`: how many times as fast as members in turn it is, measured or expected.
    - `refusals`: a sentence for each road that was tried and failed.
    - `call_steps`: of a training whose members do their steps together, the steps of a call.
    - `is_measured`: whether the choice depends on measured times.
    - `compiles`: whether members in turn are compiled, after a trial.
    - `threads`: of members in turn, on a CPU.
    """

    road: Road
    gain: float = 1.0
    refusals: tuple[str, ...] = ()
    call_steps: int | None = None
    is_measured: bool = False
    compiles: bool = False
    threads: int = 1

    def told(self, training: "Training") -> str:
        """Returns sentences that describe the road, for a plan."""
        who, turns = ("the member is", "") if len(training.members) == 1 else ("members are", " in turn")
        if self.road in WORDS:
            how = f"{WORDS[self.road]}, {self.gain:.1f} times as fast as in turn in a trial on this machine"
        elif self.road == "processes":
            how = f"trained in {num_workers(training)} processes, one core each, if a trial allows it"
        else:
            how = f"trained{turns}" + f" with {self.threads} threads" * (self.threads > 1)
            how += f", compiled, {self.gain:.1f} times as fast as without" * self.compiles
        return " ".join(self.refusals) or f"{training.caller.name}: {who} {how}."


def saved_road(road: Road, call_steps: int | None, *, compiles: bool = False, threads: int = 1) -> np.ndarray:
    """Returns a road as an array for a checkpoint: its place in `TOGETHER`, the steps of a call, or 0, whether a trial
    chose to compile, and the threads of members in turn."""
    return np.array([TOGETHER.index(road) if road in TOGETHER else 0, call_steps or 0, int(compiles), threads])


class SavedRoad(NamedTuple):
    """The road of a checkpoint; see `saved_road`. Earlier ones end after the steps of a call, or before the threads."""

    road: Road
    call_steps: int | None
    compiles: bool
    threads: int

    @classmethod
    def of(cls, array: np.ndarray) -> "SavedRoad":
        place, call_steps, compiles, threads = (*map(int, array), *(0, 0, 0, 1)[len(array) :])
        return cls("threads" if threads > 1 else TOGETHER[place], call_steps or None, bool(compiles), threads)


def program_of(road: Road, training: "Training") -> Program | None:
    """Returns the program of a road; `None` for members in turn."""
    return {"stacked": Stack, "graphs": Graphs}[road](training) if road in WORDS else None


def candidates(training: "Training") -> list[Road]:
    """Returns the fast roads to try. On a CPU there are none unless the user names one: results would depend on a
    measured time, and their rounding on the number of members."""
    if training.road != "auto":
        return [training.road] if training.road in WORDS else []
    if training.compiled or training.recipe.steps < FEWEST_STEPS:
        return []
    if training.caller.device.type == "cpu":
        return []
    return ["stacked", "graphs"] if training.caller.device.type == "cuda" else ["stacked"]


def num_threads(training: "Training") -> int:
    """Returns the number of threads for members in turn: on a CPU as many as PyTorch would use by itself, but no more
    than there are cores for this job, if the user names `threads` or trains a single member whose steps are long enough
    to gain by it.

    Which single member that is depends on sizes alone, so that the same command gives the same bits.
    """
    if training.caller.device.type != "cpu" or os.environ.get("OMP_NUM_THREADS"):
        return 1
    threads = min(cores_of(training.cores), torch.get_num_threads())
    if training.road == "threads":
        return threads
    is_alone = len(training.members) == 1 and training.road == "auto" and training.recipe.steps >= FEWEST_STEPS
    return threads if is_alone and threads > 1 and _products(training) >= FEWEST_PRODUCTS else 1


def _products(training: "Training") -> float:
    """Returns the parameters of a module times the symbols of a batch, on average."""
    with own_random(training.caller.device):
        parameters = sum(p.numel() for p in training.make().parameters() if not isinstance(p, UninitializedParameter))
    steps, has_target = training.recipe.steps, training.problem.start is not None
    batches = [training.problem.batch(step) for step in range(0, steps, max(1, steps // 8))]
    return parameters * float(np.mean([batch.tokens.size + has_target * batch.targets.size for batch in batches]))


def choose(training: "Training") -> Choice:
    """Tries the candidates and returns the fastest road. In the trial all products are exact: where they are rounded
    (TF32), losses of a Transformer differ by 4% after three steps, and an error would not be noticed."""
    with training.caller.exactly():
        return _choose(training)


def _choose(training: "Training") -> Choice:
    workers, threads = num_workers(training), num_threads(training)
    slow = Choice("processes" if workers > 1 else "threads" if threads > 1 else "in_turn", float(workers))
    slow = slow._replace(threads=threads)
    roads = candidates(training) if len(training.members) > 1 else []
    compiles, name = training.compile == "auto" and not training.compiled, training.caller.name
    if not roads and not compiles:
        return slow
    try:
        plain = _Plain(training)
    except Exception:  # training raises it again, after better checks
        return slow
    is_free = training.road == "auto"  # a road that the user names is taken even if it is not faster
    taken, refusals = slow, []
    for road in roads:
        try:
            seconds = plain.compared(road)
        except Exception as error:
            refusals.append(refusal(training, road, error, slow.road))
            continue
        gain = plain.seconds * len(training.members) / seconds
        if not is_free or gain > MARGIN * taken.gain:
            taken = Choice(road, gain, (), max(1, min(SPAN_STEPS, int(CALL_SECONDS / seconds))))
    if compiles and taken.road not in WORDS:
        try:
            gain = plain.seconds / plain.compiled()
            if gain > MARGIN * taken.gain:
                taken = Choice("in_turn", gain, compiles=True, threads=threads)
            else:
                more = f", and {taken.gain:.0f} processes do without" if taken.road == "processes" else ""
                refusals.append(f"{name}: torch.compile is not used: its steps are {gain:.2f} times as fast{more}.")
        except Exception as error:
            refusals.append(f"{name}: torch.compile is not used: {_reason(error)}.")
    return taken._replace(refusals=tuple(refusals), is_measured=True)


class Differs(Exception):
    """Results of a fast road differ from those of plain steps."""


def tolerances(training: "Training") -> tuple[float, float]:
    """Returns how much losses and changes of weights may differ from those of plain steps."""
    is_single = training.recipe.precision == "float32"
    return (TOLERANCE, CHANGE_TOLERANCE) if is_single else (HALF_TOLERANCE, HALF_CHANGE_TOLERANCE)


class _Plain:
    """A few plain steps of the first and the last member: their losses, changes of weights, and time."""

    def __init__(self, training: "Training") -> None:
        self.training, self.batches = training, training.batches(0, 2 * TRIAL_STEPS)
        self.members = [0, len(training.members) - 1]
        self.losses, self.changes = [], []
        self.differences: dict[str, float] = {}  # the largest ones of the last road, relative to plain steps
        for number in self.members:
            learner = training.fresh(training.members[number])
            before = _weights(learner)
            examples = [training._examples(batch, number) for batch in self.batches]
            losses = training._span(learner, number, 0, examples[:TRIAL_STEPS])
            kept = _kept(learner.module)
            begin = _now(training)
            losses += training._span(learner, number, TRIAL_STEPS, examples[TRIAL_STEPS:])
            self.seconds = (_now(training) - begin) / TRIAL_STEPS  # the first steps are slower
            self.kept = _changed(kept, _kept(learner.module))
            self.losses.append([loss for loss, _ in losses])
            self.changes.append(_weights(learner) - before)

    def compared(self, road: Road) -> float:
        """Does the same steps by another road, in two halves by two programs, so that nothing is kept between them
        but the learners. Returns the seconds of one step of all members; raises an exception if the results differ.
        """
        training = self.training
        if self.kept is not None:
            raise Differs(f"it keeps something after a call that is not in its `state_dict` (`{self.kept}`)")
        together = len(training.members)
        while True:
            try:
                return self._compared(road, together)
            except Exception as error:
                if road != "stacked" or together == 1 or not is_out_of_memory(error):
                    raise
            together = (together + 1) // 2  # as training does

    def _compared(self, road: Road, together: int) -> float:
        """Compares a road, of whose programs each has at most so many members."""
        training = self.training
        learners = [training.fresh(member) for member in training.members]
        before = [_weights(learners[number]) for number in self.members]
        numbers = range(len(learners))
        parts = [numbers[first : first + together] for first in numbers[::together]]

        def advance(programs: Sequence[Program | None], first: int) -> np.ndarray:
            batches, losses = self.batches[first : first + TRIAL_STEPS], []
            for program, part in zip(programs, parts, strict=True):
                assert program is not None
                own = [learners[number] for number in part]
                losses.append(program.advance(own, first, batches, np.ones(len(part)))[0])
            return np.concatenate(losses)

        def programs() -> list[Program | None]:
            if len(parts) == 1:
                return [program_of(road, training)]
            return [Stack(training, numbers=part) for part in parts]

        losses = [advance(programs(), 0), advance(again := programs(), TRIAL_STEPS)]
        self._compare(np.concatenate(losses, 1), learners, before)
        begin = _now(training)
        advance(again, TRIAL_STEPS)  # the first steps of a program are slower
        return (_now(training) - begin) / TRIAL_STEPS

    def compiled(self) -> float:
        """Does the same steps of the first member with its module compiled, the last ones twice. Returns the seconds of
        a step; raises an exception if the results differ."""
        training = copy(self.training)
        training.is_compiled_by_trial = True
        learner = training.fresh(training.members[0])
        before, losses = _weights(learner), []
        examples = [training._examples(batch, 0) for batch in self.batches]
        for first in (0, TRIAL_STEPS):
            losses += training._span(learner, 0, first, examples[first : first + TRIAL_STEPS])
        self._compare(np.array([[loss for loss, _ in losses]]), [learner], [before], members=[0])
        begin = _now(training)
        training._span(learner, 0, TRIAL_STEPS, examples[TRIAL_STEPS:])  # compiled for all of their shapes
        return (_now(training) - begin) / TRIAL_STEPS

    def _compare(
        self,
        losses: np.ndarray,
        learners: Sequence[Learner],
        before: Sequence[torch.Tensor],
        *,
        members: Sequence[int] | None = None,
    ) -> None:
        tolerance, change_tolerance = tolerances(self.training)
        self.differences = {"loss_difference": 0.0, "change_difference": 0.0}
        for place, number in enumerate(self.members if members is None else members):
            expected, change = self.losses[place], _weights(learners[number]) - before[place]
            found = losses[number][: len(expected)]
            difference, size = (change - self.changes[place]).norm(), self.changes[place].norm()
            self._note("loss_difference", float(np.abs(found / expected - 1).max()))
            self._note("change_difference", float(difference / size))
            if not np.allclose(found, expected, rtol=tolerance, atol=tolerance / 10, equal_nan=True):
                raise Differs(f"its losses differ from those of plain steps ({_shown(found)}, not {_shown(expected)})")
            if not bool(difference <= change_tolerance * size + 1e-12):
                raise Differs("its weights change in another way than in plain steps")

    def _note(self, name: str, value: float) -> None:
        self.differences[name] = max(self.differences[name], value)


def _now(training: "Training") -> float:
    """Returns the time in seconds; on a CPU that of the processor, so that other work on it does not decide."""
    is_one_thread = training.caller.device.type == "cpu" and not os.environ.get("OMP_NUM_THREADS")
    return time.thread_time() if is_one_thread else time.perf_counter()


def _kept(module: nn.Module) -> dict[str, list[tuple[Any, Any]]]:
    """Returns what a module keeps outside its `state_dict`, each with a value that changes with it."""
    found: dict[str, list[tuple[Any, Any]]] = {}
    for name, x in attributes(module):
        if isinstance(x, torch.Tensor):
            now = id(x), 0 if x.is_inference() else x._version
        else:
            now = x.tobytes() if isinstance(x, np.ndarray) else repr(x)
        found.setdefault(name, []).append((now, x))  # `x` is kept, so that no other tensor gets its `id`
    return found


def _changed(before: dict[str, list[tuple[Any, Any]]], after: dict[str, list[tuple[Any, Any]]]) -> str | None:
    """Returns the name of an attribute that has changed."""

    def values(kept: dict[str, list[tuple[Any, Any]]], name: str) -> list[Any]:
        return [now for now, _ in kept.get(name, ())]

    return next((name for name in (*before, *after) if values(before, name) != values(after, name)), None)


def _weights(learner: Learner) -> torch.Tensor:
    """Returns weights and buffers of a learner as one vector."""
    return flat(x.cpu().double() for x in learner.module.state_dict().values())


def _shown(losses: Sequence[float]) -> str:
    return ", ".join(f"{loss:.4g}" for loss in losses)


def refusal(training: "Training", road: Road, error: Exception, otherwise: Road) -> str:
    """Returns a sentence about a road that cannot be taken."""
    instead = f"trained in {num_workers(training)} processes" if otherwise == "processes" else "trained in turn"
    return f"{training.caller.name}: members cannot be {WORDS[road]}: {_reason(error)}. They are {instead}."


def _reason(error: Exception) -> str:
    """Returns the reason for which a trial failed, as a part of a sentence."""
    while isinstance(error, HumboldtError | CannotRecord) and isinstance(error.__cause__, Exception):
        error = error.__cause__
    first_line = (str(error).strip().splitlines() or [type(error).__name__])[0]
    known = (reason for part, reason in REASONS.items() if part in str(error))
    return next(known, first_line.split(". ")[0].rstrip("."))
