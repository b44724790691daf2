"""Answers of a model to this suite: the criterion of the paper, and how far a member gets that does not meet it."""

import math

import pytest

from humboldt.core.results import Result, Scores, State
from humboldt.suites import catalogue, plans, suites
from humboldt.suites.answers import Progress
from humboldt.suites.bench import QUICK
from humboldt.suites.bliss.answer import answers


def member(seed: int, measures: dict[str, float], state: State = State.FINISHED) -> Result:
    return Result({"seed": seed}, state, measures, 1.0, {}, {})


def answer_of(task: str, *results: Result):
    suite = suites.get("bliss")
    resolved = next(plans.trainings(suite, task, "family/lstm", catalogue.preset(suite, QUICK), {}))
    (evaluation, *_) = suite.evaluations(resolved.protocol, task)
    (answer,) = answers([Scores(resolved.training, evaluation, results)])
    return answer


def test_a_member_that_meets_the_criterion_has_a_perfect_score():
    answer = answer_of("an_bn", member(0, {"met_0": 1.0, "largest_n": 1000, "excess_bits": 0.0}))
    assert answer.values == (1.0,) and answer.progress is Progress.EXTENDED


@pytest.mark.parametrize(
    ("task", "largest", "accepted"),
    [("an_bn", 44, 44), ("an_bn_cn", 0, 0), ("dyck_1", 8, 1 + 2 + 5 + 14), ("an_bm_cn_plus_m", 3, 3)],
)  # Dyck: Catalan numbers, without the empty string; n + m = 2 or 3: three strings
def test_others_have_the_share_of_strings_before_their_first_error(task: str, largest: int, accepted: int):
    answer = answer_of(task, member(0, {"met_0": 0.0, "met_0.005": 0.0, "largest_n": largest, "excess_bits": 0.01}))
    assert answer.values == pytest.approx((math.log(1 + accepted) / math.log(1001),))
    assert answer.progress is Progress.LEARNT


def test_one_that_accepts_nearly_all_is_not_solved():
    answer = answer_of(
        "an_bn", member(0, {"met_0": 0.0, "largest_n": 999, "excess_bits": 0.0}), member(1, {}, State.DIVERGED)
    )
    assert answer.num_solved == 0 and answer.values[0] == pytest.approx(0.89) and answer.values[1] == 0.0
