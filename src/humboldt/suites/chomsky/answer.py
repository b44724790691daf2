"""Answers of a model to this suite: the tasks that it solves on longer inputs."""

from collections.abc import Sequence
from typing import Any

from humboldt.core.results import Scores, end_of_training
from humboldt.languages import tasks
from humboldt.languages.chomsky.base import AbstractTransduction
from humboldt.settings import from_json
from humboldt.suites.answers import LEARNT, TaskAnswer, answers_by_task, reported, value_or_floor
from humboldt.suites.chomsky.floors import floor_of
from humboldt.suites.chomsky.protocol import LengthGeneralisation


def answers(scores: Sequence[Scores]) -> list[TaskAnswer]:
    """Returns the answer of one model for each task, by level of the hierarchy."""
    return answers_by_task(scores, _answer)


def _answer(task: str, scores: Sequence[Scores]) -> TaskAnswer:
    members = reported(scores, lambda result: end_of_training(result)["loss"])
    language = tasks.get(f"chomsky/{task}")
    assert issubclass(language, AbstractTransduction)
    protocol = from_json(LengthGeneralisation, _of_protocol(scores[0]))
    measured = floor_of(task, protocol)
    floor = language.chance if measured is None else max(language.chance, measured)
    return TaskAnswer(
        task=task,
        group=language.level.value,
        values=tuple(value_or_floor(result, "score", floor) for result in members.results),
        # Every training batch is fresh, so that accuracy in training is accuracy on unseen strings.
        learnt=tuple(end_of_training(result)["accuracy"] >= LEARNT for result in members.results),
        floor=floor,
        chance=language.chance,
        learning_rate=members.learning_rate,
        steps=members.training.setting["steps"],
    )


def _of_protocol(scores: Scores) -> dict[str, Any]:
    of_training = {key: value for key, value in scores.training.setting.items() if key not in ("model", "task")}
    return {**of_training, **scores.evaluation.setting}
