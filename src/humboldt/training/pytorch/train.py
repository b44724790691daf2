"""The members of one training as PyTorch modules, and the stepper that trains them in the loop of all engines.

Members take turns, a span of steps each, so that all can be evaluated together at a milestone. Each has its own random
state, so no member's result depends on the other members.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.parameter import UninitializedParameter

from humboldt.core.events import AbstractSink, Warned
from humboldt.errors import RunError, is_out_of_memory
from humboldt.languages import Batch
from humboldt.storage.checkpoints import Checkpoints
from humboldt.training.base import Compile, MemberRecipe, Milestone, Recipe, Road
from humboldt.training.checks import AbstractTrial, try_out
from humboldt.training.loop import MEMBERS, AbstractStepper, Loop, Losses, Weights
from humboldt.training.pytorch.calling import Caller, Examples
from humboldt.training.pytorch.learner import Learner, own_random, random_state, set_random_state
from humboldt.training.pytorch.parallel import Task, WorkerLost, Workers, differs, num_workers
from humboldt.training.pytorch.roads import (
    ROAD,
    Program,
    SavedRoad,
    choose,
    num_threads,
    program_of,
    refusal,
    saved_road,
)
from humboldt.training.pytorch.stacked import Stack
from humboldt.training.pytorch.steps import batch_loss, learning_rate_factor, optimiser_for, train_step
from humboldt.training.spans import SPAN_STEPS, Call, History

STEPS_TIMED = 5  # of a module that is checked


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainedModules(History):
    """Modules after training, and its record."""

    modules: list[nn.Module]


class Training:
    """The members of one job and how to train them. `make` builds a module after the random numbers are seeded."""

    def __init__(
        self,
        make: Callable[[], nn.Module],
        members: Sequence[MemberRecipe],
        recipe: Recipe,
        caller: Caller,
        *,
        compiled: bool,
        cores: int | None = None,
        road: Road = "auto",
        compile: Compile = "setting",
    ) -> None:
        self.make, self.members, self.recipe, self.caller, self.compiled = make, members, recipe, caller, compiled
        self.cores, self.road, self.compile = cores, road, compile
        self.is_compiled_by_trial = False
        self.taken: Road = "in_turn"  # the road of the members, once they are trained
        self.threads = 1  # of members in turn, on a CPU
        self.problem = caller.problem

    def fresh(self, member: MemberRecipe) -> Learner:
        """Returns a member before its first step."""
        with own_random(self.caller.device):
            torch.manual_seed(member.seed)
            module = self.make().to(self.caller.device)
            if any(isinstance(parameter, UninitializedParameter) for parameter in module.parameters()):
                raise RunError(
                    f"{self.caller.name}: some of its parameters are made at the first call (`nn.LazyLinear` and its "
                    "like), so that no optimiser can be given them. State their sizes."
                )
            random = random_state(self.caller.device)
        called: Any = torch.compile(module) if self.compiled or self.is_compiled_by_trial else module
        return Learner(module, called, optimiser_for(self.recipe, member, module), random)

    def train(
        self,
        checkpoints: Checkpoints,
        sink: AbstractSink,
        milestone: Callable[[int, list[nn.Module]], Milestone] | None = None,
    ) -> TrainedModules:
        """Trains to the end, from the newest checkpoint if there is one; see `humboldt.training.loop.Loop`.

        `milestone(step, modules)` is called at the problem's milestones.
        """
        stepper = self._stepper(checkpoints, sink)
        try:
            history = Loop(stepper, self.recipe, self.problem, milestone).run(checkpoints, sink)
        finally:
            stepper.close()
        return TrainedModules(**vars(history), modules=stepper.trained())

    def _stepper(self, checkpoints: Checkpoints, sink: AbstractSink) -> "Members":
        """Returns a stepper for the road that a trial chooses. Its choice is saved before the first step, so that a
        resumed training stays on its road and ends with the bits of an uninterrupted one."""
        latest = checkpoints.latest()
        saved = latest.arrays.get(MEMBERS + ROAD)
        if saved is None and latest.done:
            road, call_steps = "in_turn", None
            if self.road in ("stacked", "graphs", "threads"):
                sink.send(Warned(f"{self.caller.name}: the training began by another road, and stays on it."))
        elif saved is not None and (latest.done or self.road == "auto"):
            road, call_steps, self.is_compiled_by_trial, self.threads = SavedRoad.of(saved)
            if self.road not in ("auto", road):
                road = "in_turn"  # the user has named another road
                self.threads = num_threads(self)
        else:
            choice = choose(self)
            for sentence in choice.refusals:
                sink.send(Warned(sentence))
            road, call_steps, self.is_compiled_by_trial = choice.road, choice.call_steps, choice.compiles
            self.threads = choice.threads
            if choice.is_measured:
                kept = saved_road(road, call_steps, compiles=choice.compiles, threads=choice.threads)
                checkpoints.save(0, {MEMBERS + ROAD: kept}, {"milestones": []})
        self.taken = road
        return ModuleStepper(self, sink) if call_steps is None else Together(self, sink, road, call_steps)

    def seconds_per_step(self, sample: int) -> float:
        """Returns the measured seconds of a step of one member, from a few steps that are discarded."""
        learner = self.fresh(self.members[0])
        examples = [self._examples(batch, 0) for batch in self.batches(0, sample)]
        self._span(learner, 0, 0, examples[:1])  # the first step is slower than the others
        begin = time.perf_counter()
        self._span(learner, 0, 0, examples)
        return (time.perf_counter() - begin) / sample

    def batches(self, first: int, last: int) -> list[Batch]:
        """Returns the batches of steps `first` to `last` (excluded)."""
        if self.problem.has_one_batch:
            return [self.problem.batch(first)] * (last - first)
        return [self.problem.batch(step) for step in range(first, last)]

    def rows_of(self, batch: Batch, member: int) -> tuple[np.ndarray, ...]:
        """Returns the arrays of a batch for one member."""
        arrays = (getattr(batch, name) for name in Examples._fields)
        return tuple(array[member] for array in arrays) if self.problem.has_own_examples else tuple(arrays)

    def _examples(self, batch: Batch, member: int) -> Examples:
        return Examples(*map(self.caller.tensor, self.rows_of(batch, member)))

    def _span(
        self, learner: Learner, number: int, first: int, batches: Sequence[Examples], rate: float = 1.0
    ) -> list[tuple[float, float]]:
        """Does consecutive steps of one member; returns loss and accuracy of each. Stops if the member diverges.

        `rate` is a factor on its learning rate.
        """
        member, device, losses = self.members[number], self.caller.device, []
        learner.called.train()
        with own_random(device), self.caller.computing(self.threads):
            set_random_state(learner.random)
            for step, batch in enumerate(batches, first):
                if learner.diverged_at >= 0:
                    break
                factor = learning_rate_factor(self.recipe.schedule, self.recipe.step_of_schedule(step))
                now = member.learning_rate * rate * factor
                *values, is_finite = train_step(
                    self.caller, learner.called, learner.optimiser, self.recipe, member, now, batch
                )
                losses.append(values)
                if not is_finite:
                    learner.diverged_at = step
            learner.random = random_state(device)
        return losses


class Members(AbstractStepper):
    """The members of a training as learners; subclasses decide how their steps are done."""

    precision = np.float64

    def __init__(self, training: Training, sink: AbstractSink) -> None:
        self.training, self.num_members, self.sink = training, len(training.members), sink
        self.members = training.members

    def begin(self) -> None:
        self.learners = [self.training.fresh(member) for member in self.training.members]

    def check(self, sink: AbstractSink) -> None:
        try_out(self.training.caller.name, Trial(self.learners[0].module, self.training), sink)

    def data(self, first: int, last: int) -> list[Batch]:
        return self.training.batches(first, last)

    def close(self) -> None:
        """Ends processes that were started for the training."""

    def in_turn(self, number: int, first: int, data: Sequence[Batch], rate: float) -> np.ndarray:
        """Does consecutive steps of one member; returns losses and accuracies, shape `(2, step)`."""
        training = self.training
        batches = [training._examples(batch, number) for batch in data]
        losses = training._span(self.learners[number], number, first, batches, rate)
        return np.array(losses, np.float64).reshape(-1, 2).T

    def restart_member(self, number: int) -> None:
        """Resets one member to its initial weights, unless it has diverged."""
        learner = self.learners[number]
        if learner.diverged_at < 0:
            initial = self.training.fresh(self.training.members[number]).module
            learner.module.load_state_dict(initial.state_dict())

    @property
    def diverged_at(self) -> np.ndarray:
        return np.array([learner.diverged_at for learner in self.learners])

    def trained(self) -> list[nn.Module]:
        return [learner.module for learner in self.learners]

    def copy(self, source: Weights, target: Weights, members: np.ndarray) -> None:
        for number in np.flatnonzero(members):
            learner = self.learners[number]
            weights = learner.module.state_dict() if source == "now" else getattr(learner, source)
            if target == "now":
                learner.module.load_state_dict(weights)
            else:
                setattr(learner, target, {name: x.detach().clone() for name, x in weights.items()})

    def arrays(self) -> dict[str, np.ndarray]:
        return {f"{i}/{name}": x for i, learner in enumerate(self.learners) for name, x in learner.arrays().items()}

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        for i, learner in enumerate(self.learners):
            names = [name for name in arrays if name.startswith(f"{i}/")]
            try:
                learner.restore({name.partition("/")[2]: arrays[name] for name in names})
            except RuntimeError as error:  # of `load_state_dict`
                raise ValueError(str(error)) from error


class ModuleStepper(Members):
    """Steps every member as a separate group, in processes or in turn."""

    group_size = 1
    call_steps = SPAN_STEPS

    def __init__(self, training: Training, sink: AbstractSink) -> None:
        super().__init__(training, sink)
        self._workers: Workers | None = None
        self._is_decided = False  # whether there are workers

    def expect(self, calls: Sequence[Call], data: list[Batch], rates: np.ndarray) -> None:
        if len(calls) < 2:
            return
        if not self._is_decided:
            self._decide()
        try:
            for call in calls:
                if self._workers is not None and self.learners[call.group].diverged_at < 0:
                    if call.first in self.training.recipe.restarts:
                        self.restart(call.group)  # a second time has the same result
                    self._workers.submit(self._task(call, data, float(rates[call.group])))
        except WorkerLost:
            self._go_on_alone()

    def _task(self, call: Call, data: list[Batch], rate: float) -> Task:
        rows = {id(batch): self.training.rows_of(batch, call.group) for batch in data}  # a batch may be used often
        return Task(
            call.group, call.first, self.learners[call.group].trained_arrays(), [rows[id(b)] for b in data], rate
        )

    def _decide(self) -> None:
        """Starts processes if they are worthwhile, and stops them if the module does not allow them."""
        self._is_decided = True
        count = num_workers(self.training)
        if count < 2:
            return
        self._workers = Workers(self.training, count)
        try:
            message = differs(self.training, self._workers)
        except WorkerLost:
            return self._go_on_alone()
        if message is not None:
            self.sink.send(Warned(message))
            self.close()

    def _go_on_alone(self) -> None:
        self.sink.send(Warned("A process that trained members was ended. The others are trained in turn."))
        self.close()

    def close(self) -> None:
        """Ends the processes."""
        if self._workers is not None:
            self._workers.close()
            self._workers = None

    def advance(self, call: Call, data: list[Batch], rates: np.ndarray) -> Losses:
        number, losses = call.group, None
        if self._workers is not None and self._workers.has(number):
            try:
                advanced = self._workers.result(number)
            except WorkerLost:
                self._go_on_alone()
            else:
                self.learners[number].take_over(advanced.state)
                losses = np.array(advanced.losses, np.float64).reshape(-1, 2).T
        if losses is None:
            losses = self.in_turn(number, call.first, data, float(rates[0]))
        return Losses(*losses[:, None])

    def restart(self, group: int) -> None:
        self.restart_member(group)

    def arrays(self) -> dict[str, np.ndarray]:
        compiles, threads = self.training.is_compiled_by_trial, self.training.threads
        saved = saved_road("in_turn", None, compiles=compiles, threads=threads)
        return {**super().arrays(), **({ROAD: saved} if compiles or threads > 1 else {})}


class Together(Members):
    """Steps all members as one group, by a program: stacked, or as CUDA graphs.

    If a program fails, its learners are as before the call: members are then trained in turn, with a warning.
    If stacked members do not fit into memory, they are stacked in halves.
    """

    def __init__(self, training: Training, sink: AbstractSink, road: Road, call_steps: int) -> None:
        super().__init__(training, sink)
        self.group_size, self.call_steps = self.num_members, call_steps
        self.road: Road = road
        numbers = list(range(self.num_members))
        self.programs: list[tuple[list[int], Program | None]] = [(numbers, None)]
        try:
            self.programs = [(numbers, program_of(road, training))]
        except Exception as error:  # a resumed training, on a device without graphs
            self._in_turn(error)

    def advance(self, call: Call, data: list[Batch], rates: np.ndarray) -> Losses:
        losses = np.full((2, self.num_members, len(data)), np.nan)
        left, done = self.programs, []
        while left:
            (numbers, program), *left = left
            try:
                own = self._advanced(numbers, program, call, data, rates)
            except Exception as error:
                if program is None:
                    raise
                left = [*self._instead(numbers, program, error), *left]
                continue
            losses[:, numbers, : own.shape[-1]] = own
            done.append((numbers, program))
        self.programs = done
        return Losses(*losses)

    def _advanced(
        self, numbers: list[int], program: Program | None, call: Call, data: list[Batch], rates: np.ndarray
    ) -> np.ndarray:
        if program is not None:
            return program.advance([self.learners[number] for number in numbers], call.first, data, rates[numbers])
        losses = np.full((2, len(numbers), len(data)), np.nan)
        for place, number in enumerate(numbers):
            own = self.in_turn(number, call.first, data, float(rates[number]))
            losses[:, place, : own.shape[1]] = own
        return losses

    def _instead(
        self, numbers: list[int], program: Program, error: Exception
    ) -> list[tuple[list[int], Program | None]]:
        """Returns the programs that replace a failed one, each with its members; sends a warning."""
        name = self.training.caller.name
        if isinstance(program, Stack) and is_out_of_memory(error) and len(numbers) > 1:
            said = f"{name}: {len(numbers)} members stacked as one module need more memory than there is."
            self.sink.send(Warned(f"{said} They are stacked in two halves."))
            error.__traceback__ = None  # it holds tensors
            program.free()
            return [(half.numbers, half) for half in program.halves()]
        self._in_turn(error)
        return [(numbers, None)]

    def _in_turn(self, error: Exception) -> None:
        """Says that members are trained in turn, and why."""
        self.sink.send(Warned(refusal(self.training, self.road, error, "in_turn")))
        self.road = "in_turn"

    def restart(self, group: int) -> None:
        del group
        for number in range(self.num_members):
            self.restart_member(number)

    def arrays(self) -> dict[str, np.ndarray]:
        return {**super().arrays(), ROAD: saved_road(self.road, self.call_steps, threads=self.training.threads)}


class Trial(AbstractTrial):
    """An untrained module, for checks before training."""

    def __init__(self, module: nn.Module, training: Training) -> None:
        self.module, self.training, self.problem = module, training, training.problem

    @torch.no_grad()
    def logits(self, batch: Batch) -> np.ndarray:
        self.module.eval()
        with self.training.caller.computing(exact=True):
            return self.training.caller.of_batch(self.module, batch).cpu().numpy()

    def gradient_norm(self, batch: Batch) -> float:
        module = self.training.fresh(self.training.members[0]).module  # a step of training may change its buffers
        module.train()
        examples = Examples(*(self.training.caller.tensor(getattr(batch, name)) for name in Examples._fields))
        with own_random(self.training.caller.device), self.training.caller.computing(exact=True):
            loss, _ = batch_loss(self.training.caller.of_batch(module, batch), examples, "mean")
            if not loss.requires_grad:
                return 0.0  # detached from every parameter
            loss.backward()
        gradients = [p.grad for p in module.parameters() if p.grad is not None]
        return float(nn.utils.get_total_norm(gradients))

    def parameters(self) -> int:
        return sum(p.numel() for p in self.module.parameters() if p.requires_grad)

    def seconds_per_step(self) -> float:
        return self.training.seconds_per_step(STEPS_TIMED)
