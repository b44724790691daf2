"""A model's answer to the question of a suite, task by task, for `humboldt bench`.

Scores are scaled from a floor to 1. The floor of a task is the score of the best answer that ignores what the task is
about: from length and position alone, or by the best shortcut.
"""

import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from humboldt.core.identity import Training
from humboldt.core.results import Result, Scores, State

SOLVED = 0.9  # the score from which a task is solved, if it is also
ABOVE_FLOOR = 0.05  # so far above its floor
ROUNDING = 1e-9
LEARNT = 0.9  # the accuracy at training lengths from which a task counts as learnt
SELECTION_SEEDS = 2  # the last seeds, by which a learning rate is chosen; they are not reported


class Progress(enum.StrEnum):
    """How far a model got with a task."""

    NOT_LEARNT = "not learnt"
    LEARNT = "learnt, not extended"
    EXTENDED = "extended"


@dataclass(frozen=True, kw_only=True)
class TaskAnswer:
    """The scores of the reported members of one model on one task.

    - `group`: the part of the suite that the task belongs to.
    - `values`: the score of each member, from 0 to 1. A diverged member has the floor.
    - `learnt`: whether each member learnt the task at training lengths.
    - `floor`: see above. `chance`: the score of a guess.
    - `learning_rate`: the rate at which the members were trained, chosen on other seeds.
    - `steps`: training steps.
    - `preferences`: the share of members that prefer each rule, if the suite asks for preferences.
    - `is_compared`: whether more is better, so that models can be compared by it.
    """

    task: str
    group: str = ""
    values: tuple[float, ...]
    learnt: tuple[bool, ...]
    floor: float = 0.0
    chance: float = 0.0
    learning_rate: float | None = None
    steps: int = 0
    preferences: Mapping[str, float] = field(default_factory=dict)
    is_compared: bool = True

    @property
    def mean(self) -> float:
        """The mean score."""
        return float(np.mean(self.values)) if self.values else float("nan")

    @property
    def scaled(self) -> tuple[float, ...]:
        """The scores from floor (0) to perfect (1); a score below the floor is 0. If the floor is perfect, nothing can
        be above it, and all are 0."""
        room = 1 - self.floor
        return tuple(max(0.0, (value - self.floor) / room) if room > 0 else 0.0 for value in self.values)

    def is_solved(self, value: float) -> bool:
        """Returns whether a score solves the task: it is high, and clearly above the floor."""
        return value >= max(SOLVED, self.floor + ABOVE_FLOOR) - ROUNDING

    @property
    def num_solved(self) -> int:
        """The number of members that solve the task."""
        return sum(map(self.is_solved, self.values))

    @property
    def progress(self) -> Progress:
        """The progress of most members: at training lengths, then beyond them."""
        if 2 * sum(self.learnt) < max(1, len(self.learnt)):
            return Progress.NOT_LEARNT
        return Progress.EXTENDED if self.values and self.is_solved(self.mean) else Progress.LEARNT


@dataclass(frozen=True)
class Reported:
    """The members of one training that are reported, and the learning rate that was chosen for them."""

    training: Training
    learning_rate: float | None
    results: tuple[Result, ...]


def reported(scores: Iterable[Scores], loss: Callable[[Result], float]) -> Reported:
    """Chooses a learning rate and returns its members without those that it was chosen by.

    `scores` are the same evaluation of trainings that differ in the learning rate alone; members may differ in it,
    too. With one rate, all members are reported. With several, the rate with the lowest mean loss of the last seeds is
    chosen, the smaller of two that tie.
    """
    by_rate: dict[float | None, list[tuple[Training, Result]]] = {}
    for entry in scores:
        for result in entry.results:
            rate = result.member.get("learning_rate", entry.training.setting.get("learning_rate"))
            by_rate.setdefault(rate, []).append((entry.training, result))
    seeds = sorted({result.member["seed"] for members in by_rate.values() for _, result in members})
    if len(by_rate) == 1 or len(seeds) <= SELECTION_SEEDS:
        rate = min(by_rate, key=lambda rate: rate or 0.0)
        return _of_rate(rate, by_rate[rate], frozenset())
    choosing = frozenset(seeds[-SELECTION_SEEDS:])

    def mean_loss(rate: float | None) -> float:
        losses = [_loss_or_worst(result, loss) for _, result in by_rate[rate] if result.member["seed"] in choosing]
        return float(np.mean(losses)) if losses else float("inf")

    best = min(by_rate, key=lambda rate: (mean_loss(rate), rate or 0.0))
    return _of_rate(best, by_rate[best], choosing)


def _of_rate(rate: float | None, members: Sequence[tuple[Training, Result]], without: frozenset[int]) -> Reported:
    results = [result for _, result in members if result.member["seed"] not in without]
    return Reported(members[0][0], rate, tuple(sorted(results, key=lambda result: result.member["seed"])))


def _loss_or_worst(result: Result, loss: Callable[[Result], float]) -> float:
    return loss(result) if result.state is State.FINISHED else float("inf")


def answers_by_task(
    scores: Iterable[Scores], answer: Callable[[str, Sequence[Scores]], TaskAnswer]
) -> list[TaskAnswer]:
    """Applies `answer` to the results of each task; returns the answers in the order of tasks."""
    by_task: dict[str, list[Scores]] = {}
    for entry in scores:
        by_task.setdefault(entry.training.task, []).append(entry)
    return [answer(task, entries) for task, entries in by_task.items()]


def value_or_floor(result: Result, measure: str, floor: float) -> float:
    """Returns a measure of a member; the floor if it diverged or failed."""
    return result.measures.get(measure, floor) if result.state is State.FINISHED else floor


@dataclass(frozen=True)
class ModelAnswers:
    """The answers of one model to one suite under a bench preset, and the results that they were made from. `source`
    says who made these, if it was neither this bench nor the references."""

    suite: str
    model: str
    preset: str
    tasks: tuple[TaskAnswer, ...]
    scores: tuple[Scores, ...] = field(default=(), repr=False)
    source: str = ""

    @property
    def has_preferences(self) -> bool:
        """Whether the suite asks for preferences, which are neither better nor worse."""
        return any(task.preferences or task.group == "preference" for task in self.tasks)

    def scaled(self) -> dict[str, tuple[float, ...]]:
        """Returns the scores of the members from floor to 1, by task and group, where they are compared."""
        return {f"{task.task}, {task.group}": task.scaled for task in self.tasks if task.values and task.is_compared}

    @property
    def solved(self) -> dict[str, tuple[int, int]]:
        """The number of solved tasks and of all tasks, by group. A task is solved if the mean member extends it."""
        groups: dict[str, tuple[int, int]] = {}
        for task in filter(lambda task: task.is_compared, self.tasks):
            solved, count = groups.get(task.group, (0, 0))
            groups[task.group] = solved + (task.progress is Progress.EXTENDED), count + 1
        return groups

    @property
    def seconds(self) -> float:
        """The time that training and scoring took, over all members."""
        return sum(result.seconds for scores in self.scores for result in scores.results)


@dataclass(frozen=True, kw_only=True)
class ModelCost:
    """The cost of a model. `None`: not known.

    - `parameters`: of the body, between embedding and readout; if `counts_all`, of the whole network.
    - `state_floats`: numbers that it remembers of a string of 40 tokens.
    - `multiply_adds`: of the matrix products of a forward pass, by the length of the string.
    - `seconds`: of training and scoring, over all members.
    """

    model: str
    parameters: int | None = None
    counts_all: bool = False
    state_floats: int | None = None
    multiply_adds: Mapping[int, int | None] = field(default_factory=dict)
    seconds: float = 0.0

    def is_near(self, budget: int) -> bool:
        """Returns whether the number of parameters is at most a factor of two from a budget. If it is not known, it
        counts as near.
        """
        return self.parameters is None or budget / 2 <= self.parameters <= 2 * budget
