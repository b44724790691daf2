"""Anyone's files: scores, and errors that name the line."""

from typing import Any

import pytest

from humboldt.errors import UsageError
from humboldt.languages.bias.count_or_memorization import CountOrMemorization
from humboldt.measures.bias import score_nats, score_predictions

TASK = CountOrMemorization(l=3, span=2)  # hold-out inputs of 1, 2, 4 and 5 symbols


def predictions(rule: str, *seed: Any, training: bool = True) -> list[dict[str, Any]]:
    sources = [*TASK.holdout_inputs, *TASK.training_targets] if training else list(TASK.holdout_inputs)
    rows = [{"input": " ".join(source), "prediction": " ".join(TASK.output(rule, source))} for source in sources]
    return [{**row, "seed": seed[0]} for row in rows] if seed else rows


def nats(seed: int, **values: float) -> list[dict[str, Any]]:
    return [
        {"input": " ".join(source), "rule": rule, "nats": value, "seed": seed}
        for rule, value in values.items()
        for source in TASK.holdout_inputs
    ]


def test_predictions_of_several_seeds():
    score = score_predictions(TASK, [*predictions("count", 1), *predictions("mem", 2), *predictions("count", "third")])
    assert score.agreement.members == score.agreement.fitting == 3
    assert [each.agreeing for each in score.agreement.rules] == [2, 1]
    assert score.agreement_without_empty is None
    assert [each.mean for each in score.accuracy] == [pytest.approx(2 / 3), pytest.approx(1 / 3)]
    record = score.to_dict()
    assert record["agreement"]["rules"][0]["share"] == pytest.approx(2 / 3)
    assert record["agreement"]["rules"][0]["interval"]["low"] < 0.5


def test_predictions_without_a_seed_are_of_one_member():
    score = score_predictions(TASK, predictions("mem", training=False))
    assert score.agreement.members == 1 and score.agreement.fitting is None
    assert [each.share for each in score.agreement.rules] == [0.0, 1.0]


def test_the_empty_output_is_scored_apart():
    task = CountOrMemorization(l=2, span=2)
    rows = [
        {"input": " ".join(source), "prediction": " ".join(target) or "b"}
        for source, target in task.holdout_pairs("count")
    ]
    score = score_predictions(task, rows)
    assert score.agreement.rules[0].share == 0.0
    assert score.agreement_without_empty is not None and score.agreement_without_empty.rules[0].share == 1.0
    assert score.to_dict()["agreement_without_empty"]["inputs"] == 3


def test_symbols_that_the_task_does_not_have():
    rows = predictions("count", 1)
    rows[0] = {**rows[0], "prediction": "b <unk>"}
    assert score_predictions(TASK, rows).agreement.rules[0].agreeing == 0
    rows[2] = {**rows[2], "prediction": "bbbb"}
    with pytest.raises(
        UsageError, match=r"Line 3: the prediction has the symbol 'bbbb', .* alphabet b\. Put single spaces"
    ):
        score_predictions(TASK, rows)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"input": "a a a a a a"}, "Line 2: the input 'a a a a a a' is neither a hold-out input nor a training input"),
        ({"input": "aa"}, "Line 2: the input 'aa' is neither .* the first hold-out input is 'a'"),
        ({"input": 3}, "Line 2: `input` is 3. Give text"),
        ({"prediction": ["b"]}, "Line 2: `prediction` is"),
        ({"input": "a"}, "Line 2: the input 'a' of seed 1 is there already, in line 1. Give it once"),
        ({"seed": 1.5}, "Line 2: `seed` is 1.5. Give a whole number or a name"),
        ({"seed": 2}, "Seed 1 has no output for the hold-out input 'a a'"),
    ],
)
def test_wrong_predictions_are_named(change: dict[str, Any], words: str):
    rows = predictions("count", 1)
    rows[1] = {**rows[1], **change}
    with pytest.raises(UsageError, match=words):
        score_predictions(TASK, rows)


def test_missing_fields_are_named():
    rows = predictions("count", 1)
    with pytest.raises(UsageError, match=r"Line 1: there is no field `prediction`. A record looks like \{\"input\""):
        score_predictions(TASK, [{"input": "a", "seed": 1}])
    with pytest.raises(UsageError, match="Line 5: some records have a field `seed` and some have none"):
        score_predictions(TASK, [*rows[:4], {"input": "a a a", "prediction": "b"}])
    with pytest.raises(UsageError, match="There is no record"):
        score_predictions(TASK, [])


def test_places_can_be_those_of_several_files():
    rows = predictions("count", 1)
    rows[1] = {**rows[1], "input": "a"}
    places = [f"seed1.jsonl, line {number}" for number in range(1, 6)]
    with pytest.raises(UsageError, match=r"^seed1.jsonl, line 2: the input 'a' of seed 1 is there already, in seed1"):
        score_predictions(TASK, rows, places)


def test_nats_to_description_length():
    report = score_nats(TASK, [*nats(1, count=1.0, mem=2.0), *nats(2, count=0.5, mem=4.0)], fits={1: True, 2: False})
    assert [each.nats for each in report.everyone.rules] == [3.0, 12.0]
    assert report.everyone.lowest == "count"
    assert report.fitting is not None and [each.nats for each in report.fitting.rules] == [4.0, 8.0]


def test_a_rounding_error_below_zero_is_zero_and_text_is_a_number():
    rows = nats(1, count=-1e-9, mem=1.0)
    rows[-1] = {**rows[-1], "nats": "1.5"}
    assert [each.nats for each in score_nats(TASK, rows).everyone.rules] == [0.0, 4.5]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"nats": -0.1}, "Line 3: `nats` is -0.1. Minus the logarithm"),
        ({"nats": float("inf")}, "Line 3: `nats` is inf, which is not a finite number"),
        ({"nats": float("nan")}, "Line 3: `nats` is nan"),
        ({"nats": "many"}, "Line 3: `nats` is 'many'"),
        ({"nats": True}, "Line 3: `nats` is True"),
        ({"nats": None}, "Line 3: `nats` is None"),
        ({"rule": "coutn"}, "Line 3: No rule named 'coutn'. Did you mean 'count'"),
        ({"input": "a a a"}, "Line 3: the input 'a a a' is not a hold-out input"),
        ({"input": "a a"}, "Line 3: the input 'a a' of seed 1 and rule 'count' is there already, in line 2"),
        ({"rule": "mem"}, "Line 7: the input 'a a a a' of seed 1 and rule 'mem' is there already, in line 3"),
    ],
)
def test_wrong_nats_are_named(change: dict[str, Any], words: str):
    rows = nats(1, count=1.0, mem=2.0)
    rows[2] = {**rows[2], **change}
    with pytest.raises(UsageError, match=words):
        score_nats(TASK, rows)


def test_a_missing_example_is_named():
    with pytest.raises(
        UsageError, match="Seed 1, rule 'mem': 1 of 4 hold-out examples are missing, the first is 'a a a a a'"
    ):
        score_nats(TASK, nats(1, count=1.0, mem=2.0)[:-1])
