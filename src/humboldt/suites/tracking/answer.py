"""Answers of a model to this suite: the groups whose states it keeps on longer strings."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from humboldt.core.results import Scores, end_of_training
from humboldt.languages import tasks
from humboldt.languages.formal.groups import generated
from humboldt.languages.tracking import AbstractGroup, AbstractStateTracking
from humboldt.settings import from_json
from humboldt.suites.answers import LEARNT, TaskAnswer, answers_by_task, reported, value_or_floor
from humboldt.suites.tracking.protocol import StateTracking


def answers(scores: Sequence[Scores]) -> list[TaskAnswer]:
    """Returns the answer of one model for each group and kind of input, by the solvability of the group."""
    return answers_by_task(scores, _answer)


def _answer(name: str, scores: Sequence[Scores]) -> TaskAnswer:
    members = reported(scores, lambda result: end_of_training(result)["loss"])
    setting = members.training.setting
    task: Any = from_json(tasks.get(f"tracking/{name}"), setting["task"])
    of_protocol = {key: value for key, value in setting.items() if key not in ("model", "task")}
    floor = floor_of(task, from_json(StateTracking, {**of_protocol, **scores[0].evaluation.setting}).scored_lengths())
    return TaskAnswer(
        task=name,
        group=group_of(task),
        values=tuple(value_or_floor(result, "symbols", floor) for result in members.results),
        # Every training batch is fresh, so that accuracy in training is accuracy on unseen strings.
        learnt=tuple(end_of_training(result)["accuracy"] >= LEARNT for result in members.results),
        floor=floor,
        chance=task.chance,
        learning_rate=members.learning_rate,
        steps=setting["steps"],
    )


def group_of(task: AbstractStateTracking) -> str:
    """Returns the kind of a group in words; `automaton` for a task that is not a group."""
    if not isinstance(task, AbstractGroup):
        return "automaton"
    group = generated(task.generated_by)
    return "abelian" if group.abelian else "solvable" if group.solvable else "not solvable"


def floor_of(task: AbstractStateTracking, lengths: Sequence[int]) -> float:
    """Returns the share of states that are right if the most probable state after so many symbols is always answered,
    averaged at each length and then over lengths. Strings are uniform."""
    moves = np.zeros((len(task.states),) * 2)
    for column in task.table.T:
        np.add.at(moves, (np.arange(len(moves)), column), 1 / len(task.symbols))
    now = np.zeros(len(moves))
    now[task.start] = 1
    best = []
    for _ in range(max(lengths)):
        now = now @ moves
        best.append(now.max())
    means = [best[n - 1] if task.supervision == "last" else np.mean(best[:n]) for n in lengths]
    return float(np.mean(means))
