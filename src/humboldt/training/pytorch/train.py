"""Training modules from their first step to their last, one after the other, whatever happens in between.

Members take turns, a span of steps each, so that all of them can be looked at together at a milestone. Each has its
own random numbers: no member's result depends on who else is trained with it.
"""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from humboldt.checkpoints import Checkpoints
from humboldt.errors import Interrupted, RunError
from humboldt.events import AbstractSink, Progress, Warned
from humboldt.languages import Batch
from humboldt.training.base import MemberRecipe, Milestone, Recipe
from humboldt.training.checks import AbstractTrial, answers
from humboldt.training.pytorch.calling import Caller, own_threads
from humboldt.training.pytorch.steps import Examples, batch_loss, learning_rate_factor, optimiser_for, train_step
from humboldt.training.spans import prefetch, remark, spans

STEPS_TIMED = 5  # of a module that is tried out
SPAN_STEPS = 100  # of one member before the next one's turn


@dataclass
class Learner:
    """One member: all that training changes."""

    module: nn.Module
    called: nn.Module  # the same, compiled if that was asked for
    optimiser: torch.optim.Optimizer
    random: dict[str, Tensor]  # where its random numbers stand, for each kind of device
    diverged_at: int = -1
    best: dict[str, Tensor] | None = None  # the weights of its best milestone
    best_score: float = -np.inf
    rate: float = 1.0  # what its learning rate has been multiplied by since the beginning

    def arrays(self) -> dict[str, np.ndarray]:
        """As named arrays, for a checkpoint."""
        found = {f"weights/{name}": as_array(x) for name, x in self.module.state_dict().items()}
        for number, state in self.optimiser.state_dict()["state"].items():
            values = {key: value for key, value in state.items() if isinstance(value, Tensor)}
            found |= {f"optimiser/{number}/{key}": as_array(value) for key, value in values.items()}
        found |= {f"best/{name}": as_array(x) for name, x in (self.best or {}).items()}
        found |= {f"random/{device}": as_array(x) for device, x in self.random.items()}
        return {**found, "numbers": np.array([self.diverged_at, self.best_score, self.rate], np.float64)}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """The opposite of `arrays`."""
        parts: dict[str, dict[str, Any]] = {"weights": {}, "optimiser": {}, "best": {}, "random": {}}
        for name, array in arrays.items():
            part, _, rest = name.partition("/")
            if part in parts:
                parts[part][rest] = torch.from_numpy(array.copy())
        load_weights(self.module, {name: x.numpy() for name, x in parts["weights"].items()})
        state: dict[int, dict[str, Tensor]] = {}
        for name, value in parts["optimiser"].items():
            number, _, key = name.partition("/")
            state.setdefault(int(number), {})[key] = value
        groups = self.optimiser.state_dict()["param_groups"]
        self.optimiser.load_state_dict({"state": state, "param_groups": groups})
        self.random = parts["random"]
        self.best = parts["best"] or None
        diverged_at, self.best_score, self.rate = arrays["numbers"].tolist()
        self.diverged_at = int(diverged_at)


@dataclass(frozen=True, eq=False)
class TrainedModules:
    """Modules after training, and what training looked like; see `humboldt.training.spans.Trained`."""

    modules: list[nn.Module]
    diverged_at: np.ndarray
    loss: np.ndarray
    accuracy: np.ndarray
    steps: np.ndarray
    milestones: tuple[Any, ...]


class Training:
    """The members of one job and how to train them. `make` builds a module from random numbers that are seeded."""

    def __init__(
        self,
        make: Callable[[], nn.Module],
        members: Sequence[MemberRecipe],
        recipe: Recipe,
        caller: Caller,
        *,
        compiled: bool,
    ) -> None:
        self.make, self.members, self.recipe, self.caller, self.compiled = make, members, recipe, caller, compiled
        self.problem = caller.problem
        ends = *self.problem.milestones, *recipe.restarts
        self.spans = spans(recipe.steps, min(SPAN_STEPS, recipe.steps), ends)

    def fresh(self, member: MemberRecipe) -> Learner:
        """A member before its first step."""
        with own_random(self.caller.device):
            torch.manual_seed(member.seed)
            module = self.make().to(self.caller.device)
            random = random_state(self.caller.device)
        called: Any = torch.compile(module) if self.compiled else module
        return Learner(module, called, optimiser_for(self.recipe, member, module), random)

    def train(
        self,
        checkpoints: Checkpoints,
        sink: AbstractSink,
        milestone: Callable[[int, list[nn.Module]], Milestone] | None = None,
    ) -> TrainedModules:
        """Trains to the end, from the newest checkpoint if there is one.

        `milestone(step, modules)` is called at the problem's milestones. Raises `Interrupted`, with everything saved,
        if the sink asks to stop.
        """
        learners = [self.fresh(member) for member in self.members]
        loss = np.full((len(learners), len(self.spans)), np.nan, np.float32)
        accuracy = loss.copy()
        done, records = self._resumed(checkpoints, sink, learners, loss, accuracy)
        if not done:
            self._try_out(learners[0].module, sink)
        saved = done

        def save() -> None:
            nonlocal saved
            arrays = {f"{i}/{name}": x for i, one in enumerate(learners) for name, x in one.arrays().items()}
            checkpoints.save(done, {**arrays, "loss": loss, "accuracy": accuracy}, {"milestones": records})
            saved = done

        count = len(learners)
        batches = prefetch(self._batches(first, last) for first, last in self.spans[done // count :])
        try:
            for index in range(done // count, len(self.spans)):
                examples = next(batches)
                first, last = self.spans[index]
                for number in range(done % count, count):
                    own = [self._examples(batch, number) for batch in examples]
                    if first in self.recipe.restarts and learners[number].diverged_at < 0:
                        initial = self.fresh(self.members[number]).module
                        learners[number].module.load_state_dict(initial.state_dict())
                    loss[number, index], accuracy[number, index] = self._span(learners[number], number, first, own)
                    done += 1
                    if number == count - 1 and milestone is not None and last in self.problem.milestones:
                        seen = milestone(last, [learner.module for learner in learners])
                        records.append(seen.record)
                        self._judge(learners, seen.score)
                    step = first + (last - first) * (number + 1) // count
                    diverged = np.array([learner.diverged_at for learner in learners[: number + 1]])
                    told = remark(loss[: number + 1, index], accuracy[: number + 1, index], diverged)
                    sink.send(Progress("training", step, self.recipe.steps, told))
                    if sink.should_stop():
                        save()
                        raise Interrupted("Stopped as asked.")
                    if checkpoints.due():
                        save()
        finally:
            batches.close()
        if saved != done:
            save()
        for learner in learners:
            if learner.best is not None:
                learner.module.load_state_dict(learner.best)
        return TrainedModules(
            modules=[learner.module for learner in learners],
            diverged_at=np.array([learner.diverged_at for learner in learners]),
            loss=loss,
            accuracy=accuracy,
            steps=np.array([last for _, last in self.spans]),
            milestones=tuple(records),
        )

    def _try_out(self, module: nn.Module, sink: AbstractSink) -> None:
        """Padding that changes answers is told; other broken rules are an error."""
        for finding in answers(Trial(module, self)):
            if not finding.passed:
                message = f"{self.caller.name}: {finding.text}. {finding.advice}"
                if finding.check != "padding":
                    raise RunError(message)
                sink.send(Warned(message))

    def seconds_per_step(self, sample: int) -> float:
        """A measured estimate for one member, from a few steps that are thrown away."""
        learner = self.fresh(self.members[0])
        own = [self._examples(batch, 0) for batch in self._batches(0, sample)]
        self._span(learner, 0, 0, own[:1])  # the first step is slower than the others
        begin = time.perf_counter()
        self._span(learner, 0, 0, own)
        return (time.perf_counter() - begin) / sample

    def _batches(self, first: int, last: int) -> list[Batch]:
        if self.problem.has_one_batch:
            return [self.problem.batch(first)] * (last - first)
        return [self.problem.batch(step) for step in range(first, last)]

    def _examples(self, batch: Batch, member: int) -> Examples:
        arrays = (getattr(batch, name) for name in Examples._fields)
        own = (array[member] for array in arrays) if self.problem.has_own_examples else arrays
        return Examples(*map(self.caller.tensor, own))

    def _span(self, learner: Learner, number: int, first: int, batches: Sequence[Examples]) -> tuple[float, float]:
        """A span of steps of one member: mean loss and accuracy. A diverged member keeps its last good weights."""
        member, device, losses = self.members[number], self.caller.device, []
        learner.called.train()
        with own_random(device), own_threads(device):
            set_random_state(learner.random)
            for step, batch in enumerate(batches, first):
                if learner.diverged_at >= 0:
                    break
                factor = learning_rate_factor(self.recipe.schedule, self.recipe.step_of_schedule(step))
                rate = member.learning_rate * learner.rate * factor
                found = train_step(self.caller, learner.called, learner.optimiser, self.recipe, member, rate, batch)
                losses.append(found[:2])
                if not found[2]:
                    learner.diverged_at = step
            learner.random = random_state(device)
        if not losses:
            return float("nan"), float("nan")
        mean = np.array(losses).mean(0)
        return float(mean[0]), float(mean[1])

    def _judge(self, learners: Sequence[Learner], score: np.ndarray | None) -> None:
        """Remembers the weights of every member that is better than ever."""
        for learner, value in zip(learners, [] if score is None else score.tolist(), strict=False):
            if value > learner.best_score:
                learner.best_score = value
                learner.best = {name: x.detach().clone() for name, x in learner.module.state_dict().items()}
            elif self.recipe.shrink is not None:
                learner.rate *= self.recipe.shrink

    def _resumed(
        self,
        checkpoints: Checkpoints,
        sink: AbstractSink,
        learners: list[Learner],
        loss: np.ndarray,
        accuracy: np.ndarray,
    ) -> tuple[int, list[Any]]:
        latest = checkpoints.latest()
        for complaint in latest.complaints:
            sink.send(Warned(complaint))
        if not latest.done:
            return 0, []
        try:
            for number, learner in enumerate(learners):
                own = {name: x for name, x in latest.arrays.items() if name.startswith(f"{number}/")}
                learner.restore({name.partition("/")[2]: x for name, x in own.items()})
            loss[:], accuracy[:] = latest.arrays["loss"], latest.arrays["accuracy"]
            return latest.done, list(latest.about["milestones"])
        except (ValueError, KeyError, RuntimeError) as error:
            sink.send(Warned(f"A checkpoint is of another model or version: {error}. Starting from the beginning."))
            learners[:] = [self.fresh(member) for member in self.members]
            loss[:] = accuracy[:] = np.nan
            return 0, []


class Trial(AbstractTrial):
    """A module that is tried out."""

    def __init__(self, module: nn.Module, training: Training) -> None:
        self.module, self.training, self.problem = module, training, training.problem

    @torch.no_grad()
    def logits(self, batch: Batch) -> np.ndarray:
        self.module.eval()
        return self.training.caller.of_batch(self.module, batch).cpu().numpy()

    def gradient_norm(self, batch: Batch) -> float:
        self.module.train()
        examples = Examples(*(self.training.caller.tensor(getattr(batch, name)) for name in Examples._fields))
        with own_random(self.training.caller.device):
            loss, _ = batch_loss(self.training.caller.of_batch(self.module, batch), examples, "mean")
            loss.backward()
        gradients = [p.grad for p in self.module.parameters() if p.grad is not None]
        self.module.zero_grad()
        return float(nn.utils.get_total_norm(gradients))

    def parameters(self) -> int:
        return sum(p.numel() for p in self.module.parameters() if p.requires_grad)

    def seconds_per_step(self) -> float:
        return self.training.seconds_per_step(STEPS_TIMED)


def as_array(tensor: Tensor) -> np.ndarray:
    """A tensor as NumPy has it; what NumPy has no type for, in single precision."""
    plain = tensor.detach().cpu()
    return (plain.float() if plain.dtype == torch.bfloat16 else plain).numpy().copy()


def load_weights(module: nn.Module, arrays: dict[str, np.ndarray]) -> None:
    """Puts named arrays into a module."""
    module.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in arrays.items()})


@contextlib.contextmanager
def own_random(device: torch.device) -> Iterator[None]:
    """Random numbers that are drawn within leave those of others as they were."""
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices):
        yield


def random_state(device: torch.device) -> dict[str, Tensor]:
    """Where random numbers stand."""
    found = {"cpu": torch.get_rng_state()}
    return {**found, "cuda": torch.cuda.get_rng_state(device)} if device.type == "cuda" else found


def set_random_state(state: dict[str, Tensor]) -> None:
    """The opposite of `random_state`."""
    torch.set_rng_state(state["cpu"])
    if "cuda" in state:
        torch.cuda.set_rng_state(state["cuda"])
