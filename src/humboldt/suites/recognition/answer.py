"""Answers of a model to this suite: accuracy on longer strings, above the best shortcut."""

from collections.abc import Sequence

from humboldt.core.results import Result, Scores
from humboldt.suites.answers import LEARNT, TaskAnswer, answers_by_task, reported, value_or_floor
from humboldt.suites.recognition.protocol import REGULAR

CHANCE = 0.5


def answers(scores: Sequence[Scores]) -> list[TaskAnswer]:
    """Returns the answer of one model for each language."""
    return answers_by_task(scores, _answer)


def _answer(task: str, scores: Sequence[Scores]) -> TaskAnswer:
    members = reported(scores, lambda result: 1 - result.measures["validation_short"])
    floor = best_shortcut([result for entry in scores for result in entry.results])
    setting = members.training.setting
    return TaskAnswer(
        task=task,
        group="regular" if task in REGULAR else "not regular",
        values=tuple(value_or_floor(result, "test", floor) for result in members.results),
        learnt=tuple(value_or_floor(result, "validation_short", CHANCE) >= LEARNT for result in members.results),
        floor=floor,
        chance=CHANCE,
        learning_rate=members.learning_rate,
        steps=setting["epochs"] * -(-setting["train"] // setting["batch_size"]),
    )


def best_shortcut(results: Sequence[Result]) -> float:
    """Returns the best accuracy of a shortcut on the test strings; it is stored with at least one member."""
    audits = [result.detail["shortcuts"].get("test", {}) for result in results if "shortcuts" in result.detail]
    return max((accuracy for audit in audits for accuracy in audit.values()), default=CHANCE)
