"""FPA and accuracy per sequence of learners that follow a rule, or none."""

from typing import Any

import pytest

from humboldt.errors import UsageError
from humboldt.languages import tasks
from humboldt.languages.bias import AbstractBiasTask, Symbols
from humboldt.measures.bias import fits_training, perfect_agreement, sequence_accuracy


def make(name: str, **settings: Any) -> AbstractBiasTask:
    task = tasks.get(f"bias/{name}")(**settings)
    assert isinstance(task, AbstractBiasTask)
    return task


def play(task: AbstractBiasTask, rule: str, *, with_training: bool = True) -> dict[Symbols, Symbols]:
    outputs = dict(task.holdout_pairs(rule))
    return {**task.training_targets, **outputs} if with_training else outputs


@pytest.mark.parametrize("name", tasks.names("bias/"))
def test_a_rule_played_as_a_learner_agrees_with_itself_only(name: str):
    task = make(name.removeprefix("bias/"))
    for played in task.rules:
        score = perfect_agreement(task, {0: play(task, played)})
        assert score.members == score.fitting == 1 and score.inputs == len(task.holdout_inputs)
        assert {each.rule: each.share for each in score.rules} == {rule: float(rule == played) for rule in task.rules}


def test_only_members_that_fit_are_counted():
    """Table 2, LSTM with attention, l = 20: 21 of 100 members fit, 4 of them follow mul2 and 13 mul3: 0.19 and 0.62."""
    task = make("multiply_by_3")
    misfit = {**play(task, "mul3"), ("a",) * 20: ("b",) * 59}
    neither = {**play(task, "mem"), ("a",) * 17: ("b",)}
    members = [play(task, "mul2")] * 4 + [play(task, "mul3")] * 13 + [neither] * 4 + [misfit] * 79
    score = perfect_agreement(task, dict(enumerate(members)))
    assert (score.members, score.fitting) == (100, 21)
    shares = {each.rule: each.share for each in score.rules}
    assert shares == {
        "mul1": 0.0,
        "mul2": pytest.approx(0.19, abs=0.005),
        "mul3": pytest.approx(0.62, abs=0.005),
        "mem": 0,
    }
    mul2 = score.rules[1]
    assert (mul2.agreeing, mul2.members) == (4, 21)
    assert mul2.interval is not None and 0.05 < mul2.interval.low < 0.19 < mul2.interval.high < 0.45


def test_where_nobody_fits_there_is_no_share():
    task = make("add_or_multiply")
    score = perfect_agreement(task, {0: {**play(task, "add"), ("a",) * 20: ()}})
    assert score.fitting == 0 and all(each.share is None and each.interval is None for each in score.rules)


def test_without_outputs_for_training_inputs_all_members_are_counted():
    task = make("add_or_multiply")
    predictions = {1: play(task, "add", with_training=False), 2: play(task, "mul", with_training=False)}
    score = perfect_agreement(task, predictions)
    assert score.fitting is None and score.members == 2
    assert {each.rule: each.share for each in score.rules} == {"add": 0.5, "mul": 0.5, "mem": 0.0}


def test_with_and_without_the_empty_output():
    task = make("count_or_memorization", l=10)
    cannot_be_silent = {**play(task, "count"), (): ("b",)}  # what the released generation makes of a counting learner
    score = perfect_agreement(task, {0: cannot_be_silent})
    assert score.inputs == 20 and score.rules[0].share == 0.0
    score = perfect_agreement(task, {0: cannot_be_silent}, empty_outputs=False)
    assert score.inputs == 19 and score.rules[0].share == 1.0 and score.rules[1].share == 0.0


def test_accuracy_per_sequence():
    task = make("hierarchical_or_linear")
    half = dict(task.holdout_pairs("hierar"))
    for source, target in task.holdout_pairs("linear")[:8]:
        half[source] = target
    same = sum(a == b for a, b in zip(task.holdout_pairs("hierar"), task.holdout_pairs("linear"), strict=True))
    assert same == 8  # where x = y the rules agree
    hierar, linear = sequence_accuracy(task, {0: half, 1: play(task, "hierar")})
    assert hierar.per_member == (12 / 16, 1.0) and linear.per_member == (12 / 16, 8 / 16)
    assert hierar.mean == 0.875 and hierar.interval is not None and hierar.interval.high == 1.0


def test_missing_outputs_are_named():
    task = make("add_or_multiply", l=5)
    complete = play(task, "add")
    with pytest.raises(UsageError, match=r"Seed 3 has no output for the hold-out input 'a a' \(1 of 6 are missing\)"):
        perfect_agreement(task, {3: {x: y for x, y in complete.items() if x != ("a", "a")}})
    with pytest.raises(UsageError, match=r"Seed 4 has no output for the training input 'a a a a a' \(1 of 1"):
        fits_training(task, {3: complete, 4: play(task, "add", with_training=False)})
    with pytest.raises(UsageError, match="There are no predictions"):
        perfect_agreement(task, {})
