"""Answers of a model to this suite: the five tests of compositionality."""

from collections.abc import Sequence

from humboldt.core.results import Result, Scores, State
from humboldt.suites.answers import LEARNT, TaskAnswer, reported
from humboldt.suites.pcfg_set.records import peak

MEASURES = {"accuracy": "sequence_accuracy", "localism": "consistency", "substitutivity": "consistency"}
TESTS = (*MEASURES, "overgeneralisation")
COMPARED = ("accuracy", "substitutivity")  # wrong answers can be consistent, and overgeneralisation is not a success


def answers(scores: Sequence[Scores]) -> list[TaskAnswer]:
    """Returns the answer of one model for each test."""
    by_test: dict[tuple[str, str], list[Scores]] = {}
    for entry in scores:
        if entry.evaluation.name in TESTS:
            by_test.setdefault((entry.training.task, entry.evaluation.name), []).append(entry)
    return [_answer(task, test, entries) for (task, test), entries in by_test.items()]


def _answer(task: str, test: str, scores: Sequence[Scores]) -> TaskAnswer:
    members = reported(scores, lambda result: -_validation(result))
    return TaskAnswer(
        task="localism" if test == "localism" else task,
        group="compositionality" if test in COMPARED else test,
        is_compared=test in COMPARED,
        values=tuple(_value(result, test) for result in members.results),
        learnt=tuple(_validation(result) >= LEARNT for result in members.results),
        learning_rate=members.learning_rate,
        steps=members.training.setting["epochs"],
    )


def _value(result: Result, test: str) -> float:
    if result.state is not State.FINISHED:
        return 0.0
    return (peak(result) or 0.0) if test == "overgeneralisation" else result.measures[MEASURES[test]]


def _validation(result: Result) -> float:
    """Returns the best accuracy per symbol on validation items, which are like the training items."""
    return max((record.get("accuracy", 0.0) for record in result.detail.get("milestones", ())), default=0.0)
