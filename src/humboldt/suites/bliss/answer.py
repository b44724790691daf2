"""Answers of a model to this suite: the languages that it learns, and from how few strings."""

import math
from collections.abc import Sequence
from functools import cache

import numpy as np

from humboldt.core.results import Result, Scores, State
from humboldt.languages import tasks
from humboldt.languages.bliss import AbstractLanguage, Measure
from humboldt.measures.bliss import sizes
from humboldt.suites.answers import SOLVED, TaskAnswer, reported
from humboldt.suites.bliss.scoring import LENIENT, STRICT, name

LEARNT_BITS = 0.1  # excess bits per symbol up to which the strings of the corpus count as learnt
MOST = SOLVED - 0.01  # the score of a member that does not meet the criterion is below that of a solved language


def answers(scores: Sequence[Scores]) -> list[TaskAnswer]:
    """Returns the answer of one model for each language and each b.

    The score of a member is 1 if it meets the criterion of the paper; otherwise it says how far the member gets, on a
    scale of logarithms: how many strings of the language it accepts, from the shortest to the first error, of the
    10^N strings that are tried. M_det is taken without a margin: within that of 0.005, always predicting `b` passes on
    a^n b^n.
    """
    by_place: dict[tuple[str, int], list[Scores]] = {}
    for entry in scores:
        by_place.setdefault((entry.training.task, entry.training.setting["factor"]), []).append(entry)
    return [_answer(task, factor, entries) for (task, factor), entries in by_place.items()]


def _answer(task: str, factor: int, scores: Sequence[Scores]) -> TaskAnswer:
    members = reported(scores, lambda result: result.measures.get("training_loss", float("inf")))
    finished = [result.state is State.FINISHED for result in members.results]
    language, setting = tasks.get(f"bliss/{task}"), members.training.setting
    assert issubclass(language, AbstractLanguage)
    margin = STRICT if language.measure is Measure.DETERMINISTIC else LENIENT
    batches = -(-sizes(factor, setting["order"]).train // setting["batch_size"]) if setting["batch_size"] else 1
    return TaskAnswer(
        task=task,
        group=f"b = {factor}",
        values=tuple(_score(result, task, setting["order"], margin) for result in members.results),
        learnt=tuple(
            done and result.measures.get("excess_bits", float("inf")) <= LEARNT_BITS
            for done, result in zip(finished, members.results, strict=True)
        ),
        learning_rate=members.learning_rate,
        steps=setting["epochs"] * batches,
    )


def _score(result: Result, task: str, order: int, margin: float) -> float:
    """Returns the score of a member: 1 if it meets the criterion, otherwise how far it gets."""
    if result.measures.get(name("met", margin)):
        return 1.0
    accepted = int((_sizes(task, order) <= result.measures.get("largest_n", 0)).sum())
    return min(MOST, math.log1p(accepted) / math.log1p(10**order))


@cache
def _sizes(task: str, order: int) -> np.ndarray:
    """Returns the sizes of the first 10^order strings of a language."""
    language = tasks.get(f"bliss/{task}")()
    assert isinstance(language, AbstractLanguage)
    return np.array([language.size(string) for string in language.test_set(after=0, count=10**order)])
