"""Answers of a model to this suite: the rules that it prefers."""

from collections.abc import Sequence

from humboldt.core.results import Result, Scores, State
from humboldt.suites.answers import TaskAnswer

AGREES = "agrees_"


def answers(scores: Sequence[Scores]) -> list[TaskAnswer]:
    """Returns the preferences of one model for each task and learning rate: no rate is selected, since the rate changes
    the preference itself. Shares are those of members that fit the training set; `values` say which members fit."""
    by_place: dict[tuple[str, float], list[Result]] = {}
    updates: dict[str, int] = {}
    for entry in scores:
        place = entry.training.task, entry.training.setting["learning_rate"]
        updates[entry.training.task] = entry.training.setting["updates"]
        by_place.setdefault(place, []).extend(result for result in entry.results if not result.member["block"])
    return [_answer(task, rate, results, updates[task]) for (task, rate), results in by_place.items()]


def _answer(task: str, rate: float, results: Sequence[Result], updates: int) -> TaskAnswer:
    fits = [result.state is State.FINISHED and bool(result.measures.get("fits", 0.0)) for result in results]
    fitting = [result for result, does in zip(results, fits, strict=True) if does]
    rules = dict.fromkeys(
        name.removeprefix(AGREES)
        for result in results
        for name in result.measures
        if name.startswith(AGREES) and not name.endswith("_without_empty")
    )
    shares = {
        rule: sum(result.measures[f"{AGREES}{rule}"] == 1.0 for result in fitting) / len(fitting)
        for rule in rules
        if fitting
    }
    return TaskAnswer(
        task=task,
        group="preference",
        values=tuple(map(float, fits)),
        learnt=tuple(fits),
        learning_rate=rate,
        steps=updates,
        preferences=shares,
    )
