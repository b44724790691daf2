"""Answers of a model to this suite: accuracy on longer strings, above the best shortcut."""

from collections.abc import Sequence

from humboldt.core.results import Result, Scores
from humboldt.suites.answers import LEARNT, TaskAnswer, answers_by_task, reported, value_or_floor

CHANCE = 0.5
NOT_FLOORS = ("category_bag_quadratic",)  # products of the counts of categories


def answers(scores: Sequence[Scores]) -> list[TaskAnswer]:
    """Returns the answer of one model for each task."""
    return answers_by_task(scores, _answer)


def _answer(task: str, scores: Sequence[Scores]) -> TaskAnswer:
    members = reported(scores, lambda result: 1 - result.measures["validation"])
    floor = best_shortcut([result for entry in scores for result in entry.results])
    setting = members.training.setting
    return TaskAnswer(
        task=task,
        group=f"{setting['terminals']} terminals",
        values=tuple(value_or_floor(result, "out_of_dist", floor) for result in members.results),
        learnt=tuple(value_or_floor(result, "validation", CHANCE) >= LEARNT for result in members.results),
        floor=floor,
        chance=CHANCE,
        learning_rate=members.learning_rate,
        steps=setting["epochs"] * -(-2 * setting["train"] // setting["batch_size"]),
    )


def best_shortcut(results: Sequence[Result]) -> float:
    """Returns the best accuracy of a linear shortcut on the long strings: from length, ends, neighbours or counts of
    symbols or of their categories. It is stored with at least one member.

    Products of the counts of categories are not among them: they reach 98% and more on three of the four languages, so
    that hardly any model could be above them, and they can compare two counts, as a network must.
    """
    audits = [result.detail["shortcuts"]["out_of_dist"] for result in results if "shortcuts" in result.detail]
    linear = [accuracy for audit in audits for name, accuracy in audit.items() if name not in NOT_FLOORS]
    return max(linear, default=CHANCE)
