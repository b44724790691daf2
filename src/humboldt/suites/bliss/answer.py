"""Answers of a model to this suite: the languages that it learns, and from how few strings."""

from collections.abc import Sequence

from humboldt.core.results import Scores, State
from humboldt.languages import tasks
from humboldt.languages.bliss import AbstractLanguage, Measure
from humboldt.measures.bliss import sizes
from humboldt.suites.answers import TaskAnswer, reported
from humboldt.suites.bliss.scoring import LENIENT, STRICT, name

LEARNT_BITS = 0.1  # excess bits per symbol up to which the strings of the corpus count as learnt


def answers(scores: Sequence[Scores]) -> list[TaskAnswer]:
    """Returns the answer of one model for each language and each b: whether members meet the criterion of the paper.

    M_det is taken without a margin: within that of 0.005, always predicting `b` passes on a^n b^n.
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
        values=tuple(result.measures.get(name("met", margin), 0.0) for result in members.results),
        learnt=tuple(
            done and result.measures.get("excess_bits", float("inf")) <= LEARNT_BITS
            for done, result in zip(finished, members.results, strict=True)
        ),
        learning_rate=members.learning_rate,
        steps=setting["epochs"] * batches,
    )
