"""The one training loop of all engines that train step by step. NumPy only.

A *stepper* holds the members of one training and does a few steps of them at a time: it is the only difference between
engines. The loop decides which steps come next, prefetches their data, averages losses to curves, restarts members,
evaluates milestones, stores scores and learning rates, reports progress, saves and resumes.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from humboldt.core.events import AbstractSink, Progress, Warned
from humboldt.errors import Interrupted
from humboldt.storage.checkpoints import Checkpoints
from humboldt.training.base import AbstractProblem, MemberRecipe, Milestone, Recipe
from humboldt.training.spans import SPAN_STEPS, Call, History, calls, diverged, prefetch, remark, spans

MEMBERS = "members/"  # before the names of a stepper's arrays in a checkpoint

Weights = Literal["now", "last", "best"]
"""The weights of a member: the current ones, those of its last milestone, and those to end with."""


class Losses(NamedTuple):
    """Loss and accuracy at every step of a call, each of shape `(member, step)`.

    There are fewer steps than in the call if every member of the group diverged and stopped.
    """

    loss: np.ndarray
    accuracy: np.ndarray


class AbstractStepper(ABC):
    """The members of one training. A diverged member keeps its last finite weights in all further calls.

    - `num_members`: the number of members.
    - `group_size`: the number of members that do their steps in one call; groups of members take turns. The members of
      group `g` are those from number `g * group_size` on.
    - `call_steps`: the largest number of steps of a call. Training cannot be stopped or saved during a call.
    - `precision`: the type of numbers in which losses are averaged and learning rates shrink.
    - `members`: their recipes, for messages; none if they are not known.
    """

    num_members: int
    members: Sequence[MemberRecipe] = ()
    group_size: int
    call_steps: int
    precision: ClassVar[type[np.floating]]

    @abstractmethod
    def begin(self) -> None:
        """Creates all members before their first step. A second call starts again."""

    def check(self, sink: AbstractSink) -> None:
        """Checks the members before the first step of a training that is not resumed."""
        del sink

    @abstractmethod
    def data(self, first: int, last: int) -> Any:
        """Returns the batches of steps `first` to `last` (excluded), for all groups. Runs on a separate thread."""

    def expect(self, calls: Sequence[Call], data: Any, rates: np.ndarray) -> None:
        """Announces several calls with the same data, each of another group. `rates`, shape `(num_members,)`,
        are those of all members. A stepper may begin these calls; `advance` is still called for each, and until then
        `arrays` returns the members of its group as they were."""
        del calls, data, rates

    @abstractmethod
    def advance(self, call: Call, data: Any, rates: np.ndarray) -> Losses:
        """Does the steps of one call. `rates`, shape `(group_size,)`, are factors on the learning rates."""

    @abstractmethod
    def restart(self, group: int) -> None:
        """Resets the members of a group to their initial weights. Does not reset the optimiser."""

    @property
    @abstractmethod
    def diverged_at(self) -> np.ndarray:
        """The step at which each member diverged, or -1; shape `(num_members,)`."""

    @abstractmethod
    def trained(self) -> Any:
        """Returns the current members, in the form for milestones and the engine's predictor."""

    @abstractmethod
    def copy(self, source: Weights, target: Weights, members: np.ndarray) -> None:
        """Copies one kind of weights of some members to another kind. `members` is a mask, which is not empty. A source
        other than `now` was a target before."""

    @abstractmethod
    def arrays(self) -> dict[str, np.ndarray]:
        """Returns everything that training has changed, by name."""

    @abstractmethod
    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Restores the arrays that `arrays` returned. Raises a `ValueError` or `KeyError` if they are of other
        members."""


class Loop:
    """Trains the members of one stepper from their first step to their last.

    `milestone(step, trained)` is called at the problem's milestones with the result of `AbstractStepper.trained`.
    """

    def __init__(
        self,
        stepper: AbstractStepper,
        recipe: Recipe,
        problem: AbstractProblem,
        milestone: Callable[[int, Any], Milestone] | None = None,
    ) -> None:
        self.stepper, self.recipe, self.problem, self.milestone = stepper, recipe, problem, milestone
        self.spans = spans(recipe.steps, SPAN_STEPS, (*problem.milestones, *recipe.restarts))
        self.num_groups = stepper.num_members // stepper.group_size
        self._begin()

    def run(self, checkpoints: Checkpoints, sink: AbstractSink) -> History:
        """Trains to the end, from the newest checkpoint if there is one. Members with a score end with the weights of
        their best milestone, or of the one before it, depending on the recipe.

        Raises `Interrupted`, with everything saved, if the sink requests a stop.
        """
        stepper = self.stepper
        self._resume(checkpoints, sink)
        if not self._done:
            stepper.check(sink)
        saved = self._done
        left = calls(self.spans, stepper.call_steps, groups=self.num_groups, done=self._done)
        # Successive groups do the same steps: their data are made once.
        rounds = [(steps, list(same)) for steps, same in groupby(left, key=lambda call: (call.first, call.last))]
        data = prefetch(stepper.data(first, last) for (first, last), _ in rounds)
        try:
            for (_, same), batches in zip(rounds, data, strict=True):
                stepper.expect(same, batches, self._rates)
                for call in same:
                    self._do(call, batches, sink)
                    if sink.should_stop():
                        self._save(checkpoints)
                        raise Interrupted("Interrupted by the user.")
                    if checkpoints.due():
                        self._save(checkpoints)
                        saved = self._done
        finally:
            data.close()
        if saved != self._done:
            self._save(checkpoints)
        self._copy("best", "now", ~np.isneginf(self._scores))  # a member that never had a score keeps its last weights
        return History(
            diverged_at=stepper.diverged_at,
            loss=self._curves[0],
            accuracy=self._curves[1],
            steps=np.array([last for _, last in self.spans]),
            milestones=tuple(self._records),
        )

    def _begin(self) -> None:
        count, precision = self.stepper.num_members, self.stepper.precision
        self._done = 0
        self._curves = np.full((2, count, len(self.spans)), np.nan, np.float32)  # of loss and of accuracy
        self._part = np.empty((2, self.stepper.group_size, 0), precision)  # the steps of an unfinished span
        self._scores = np.full(count, -np.inf)  # at the best milestone so far
        self._rates = np.ones(count, precision)  # factors on the learning rates
        self._records: list[Any] = []
        self.stepper.begin()

    def _do(self, call: Call, data: Any, sink: AbstractSink) -> None:
        stepper = self.stepper
        members = slice(call.group * stepper.group_size, (call.group + 1) * stepper.group_size)
        if call.first in self.recipe.restarts:
            stepper.restart(call.group)
        if call.first == self.spans[call.span][0]:
            self._part = self._part[:, :, :0]
        before = stepper.diverged_at
        losses = stepper.advance(call, data, self._rates[members])
        new = np.flatnonzero((stepper.diverged_at >= 0) & (before < 0))
        if len(new):
            steps = stepper.diverged_at
            last = {int(i): _last_finite(losses.loss[i - members.start, : steps[i] - call.first + 1]) for i in new}
            sink.send(Warned(diverged(stepper.members, steps, last, self.recipe)))
        self._part = np.concatenate([self._part, np.stack(losses)], -1)
        if self._part.size:  # false for members that diverged before
            self._curves[:, members, call.span] = self._part.mean(-1)
        self._done = call.done
        loss, accuracy = self._curves[:, : members.stop, call.span]  # the other groups have not done this span yet
        said = remark(loss, accuracy, stepper.diverged_at[: members.stop])
        sink.send(Progress("training", self._done // self.num_groups, self.recipe.steps, said))
        if call.group == self.num_groups - 1 and call.last in self.problem.milestones and self.milestone is not None:
            self._judge(self.milestone(call.last, stepper.trained()))

    def _judge(self, seen: Milestone) -> None:
        """Saves the weights of members that are better than before, and shrinks the learning rates of the others."""
        self._records.append(seen.record)
        if seen.score is None:
            return
        is_better = seen.score > self._scores  # the first of equal scores is kept
        if self.recipe.kept == "before_best":
            is_first = np.isneginf(self._scores)  # there is no milestone before it
            self._copy("now", "best", is_better & is_first)
            self._copy("last", "best", is_better & ~is_first)
            self._copy("now", "last", np.ones_like(is_better))
        else:
            self._copy("now", "best", is_better)
        self._scores = np.where(is_better, seen.score, self._scores)
        if self.recipe.shrink is not None:
            self._rates = np.where(is_better, self._rates, self.stepper.precision(self.recipe.shrink) * self._rates)

    def _copy(self, source: Weights, target: Weights, members: np.ndarray) -> None:
        if members.any():
            self.stepper.copy(source, target, members)

    def _arrays(self) -> dict[str, np.ndarray]:
        return {"curves": self._curves, "part": self._part, "scores": self._scores, "rates": self._rates}

    def _save(self, checkpoints: Checkpoints) -> None:
        arrays = {MEMBERS + name: array for name, array in self.stepper.arrays().items()}
        checkpoints.save(self._done, {**self._arrays(), **arrays}, {"milestones": self._records})

    def _resume(self, checkpoints: Checkpoints, sink: AbstractSink) -> None:
        latest = checkpoints.latest()
        for complaint in latest.complaints:
            sink.send(Warned(complaint))
        if not latest.done:
            return
        try:
            self._check(latest.arrays)
            names = [name for name in latest.arrays if name.startswith(MEMBERS)]
            self.stepper.restore({name.removeprefix(MEMBERS): latest.arrays[name] for name in names})
            self._records = list(latest.about["milestones"])
            self._curves, self._part, self._scores, self._rates = (latest.arrays[name] for name in self._arrays())
            self._done = latest.done
        except (ValueError, KeyError) as error:
            sink.send(Warned(f"A checkpoint is of another model or version: {error}. Starting from the beginning."))
            self._begin()

    def _check(self, arrays: Mapping[str, np.ndarray]) -> None:
        for name, like in self._arrays().items():
            if name not in arrays:
                raise ValueError(f"it has no array {name}")
            array, axes = arrays[name], 2 if name == "part" else like.ndim  # the third axis of `part` grows
            if array.shape[:axes] != like.shape[:axes] or array.ndim != like.ndim or array.dtype != like.dtype:
                raise ValueError(f"{name} has shape {array.shape}, but this training needs {like.shape}")


def _last_finite(values: np.ndarray) -> float | None:
    """Returns the last finite number, or `None` if there is none."""
    finite = values[np.isfinite(values)]
    return float(finite[-1]) if len(finite) else None
