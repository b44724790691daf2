"""Answers of models: chosen learning rates, floors, and the words about progress."""

import pytest

from humboldt.core.identity import Evaluation, Training
from humboldt.core.results import Result, Scores, State, end_of_training
from humboldt.suites import profile
from humboldt.suites.answers import ModelAnswers, ModelCost, Progress, TaskAnswer, reported
from humboldt.suites.bench import BUDGETS, QUICK

EVALUATION = Evaluation("score", {}, 1)


def result(seed: int, rate: float, loss: float, score: float, state: State = State.FINISHED) -> Result:
    curve = {"loss": [9.0, 9.0, *[loss] * 5], "accuracy": [0.0, 0.0, *[score] * 5]}
    measures = {"score": score} if state is State.FINISHED else {}
    return Result({"seed": seed, "learning_rate": rate}, state, measures, 1.0, {"training": curve}, {})


def scores(*results: Result) -> Scores:
    training = Training("chomsky", "parity_check", "m", "jax", {"steps": 10}, {"task": 1, "model": 1})
    return Scores(training, EVALUATION, results)


def loss_of(result: Result) -> float:
    return end_of_training(result)["loss"]


def test_the_rate_is_chosen_by_the_last_seeds_which_are_not_reported():
    # By the reported seeds 0 and 1 the rate 0.1 would be better; the last two decide for 0.2.
    good = [result(seed, 0.1, loss=0.1 if seed < 2 else 5.0, score=1.0) for seed in range(4)]
    other = [result(seed, 0.2, loss=4.0 if seed < 2 else 1.0, score=0.3) for seed in range(4)]
    chosen = reported([scores(*good, *other)], loss_of)
    assert chosen.learning_rate == 0.2
    assert [each.member["seed"] for each in chosen.results] == [0, 1]


def test_the_smaller_of_two_rates_that_tie_is_chosen():
    members = [result(seed, rate, loss=1.0, score=0.5) for rate in (0.2, 0.1) for seed in range(3)]
    assert reported([scores(*members)], loss_of).learning_rate == 0.1


def test_a_rate_at_which_members_diverge_is_not_chosen():
    members = [result(seed, 0.1, loss=2.0, score=0.5) for seed in range(3)]
    members += [result(seed, 0.5, 0.1, 0.5, State.DIVERGED) for seed in range(3)]
    assert reported([scores(*members)], loss_of).learning_rate == 0.1


def test_with_one_rate_all_members_are_reported():
    members = [result(seed, 0.1, loss=2.0, score=0.5) for seed in range(3)]
    assert len(reported([scores(*members)], loss_of).results) == 3


@pytest.mark.parametrize(
    ("values", "learnt", "floor", "progress"),
    [
        ((0.5, 0.5), (False, False), 0.5, Progress.NOT_LEARNT),
        ((0.5, 0.5), (True, True), 0.5, Progress.LEARNT),
        ((0.95, 0.97), (True, True), 0.5, Progress.EXTENDED),
        ((0.92, 0.92), (True, True), 0.9, Progress.LEARNT),  # two points above the floor are not enough
        ((0.96, 0.96), (True, True), 0.9, Progress.EXTENDED),
        ((1.0, 0.5), (True, False), 0.5, Progress.LEARNT),
        ((1.0, 1.0), (True, True), 1.0, Progress.LEARNT),  # a shortcut is perfect: nothing is shown
    ],
)
def test_progress(values: tuple[float, ...], learnt: tuple[bool, ...], floor: float, progress: Progress):
    answer = TaskAnswer(task="t", values=values, learnt=learnt, floor=floor)
    assert answer.progress is progress


def test_scaled_scores_run_from_the_floor_to_one():
    answer = TaskAnswer(task="t", values=(0.5, 0.75, 1.0, 0.4), learnt=(), floor=0.5)
    assert answer.scaled == (0.0, 0.5, 1.0, 0.0)
    assert TaskAnswer(task="t", values=(1.0,), learnt=(), floor=1.0).scaled == (0.0,)


def test_two_cheats_land_where_they_should():
    """One memorises training lengths, one answers from the length alone: neither solves anything."""
    memorises = TaskAnswer(task="t", group="R", values=(0.5,) * 5, learnt=(True,) * 5, floor=0.5)
    by_length = TaskAnswer(task="t", group="R", values=(0.9,) * 5, learnt=(False,) * 5, floor=0.9)
    honest = TaskAnswer(task="t", group="R", values=(1.0, 0.99, 1.0, 1.0, 0.98), learnt=(True,) * 5, floor=0.5)
    answers = [ModelAnswers("chomsky", name, "bench_quick", (t,)) for name, t in [("m", memorises), ("l", by_length)]]
    assert [each.tasks[0].progress for each in answers] == [Progress.LEARNT, Progress.NOT_LEARNT]
    assert [each.solved for each in answers] == [{"R": (0, 1)}] * 2
    references = [ModelAnswers("chomsky", "honest", "bench_quick", (honest,))]
    table = profile.comparison_table(answers, references, str)
    assert table is not None and [row[2] for row in table.texts] == ["2 of 2", "2 of 2"]


def test_a_model_of_another_size_is_placed_but_not_ranked():
    def answers(name: str, *values: float) -> ModelAnswers:
        return ModelAnswers("chomsky", name, QUICK, (TaskAnswer(task="t", group="R", values=values, learnt=()),))

    mine, theirs = [answers("mine", 1.0, 0.99, 0.98, 0.97)], [answers("theirs", 0.5, 0.51, 0.52, 0.53)]
    for parameters, place in (
        (BUDGETS[QUICK], "1 of 2"),
        (3 * BUDGETS[QUICK], "about 1 of 2; not ranked: another size"),
    ):
        costs = [ModelCost(model="mine", parameters=parameters, multiply_adds={40: 7, 500: None}, seconds=90)]
        first, compared, costly = profile.summary_tables(mine, theirs, str, costs)
        assert first.title == "Answers" and compared.texts[0][2] == place
        assert costly.texts[0] == ("mine", f"{parameters:,}", "–", "7", "–", "1 min 30 s")
