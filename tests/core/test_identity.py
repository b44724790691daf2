from dataclasses import replace

import pytest

from humboldt.core.identity import Evaluation, Training, canonical, short_hash

TRAINING = Training(
    "chomsky", "parity_check", "rnn", "jax", {"steps": 10, "model": {"hidden_size": 8}}, {"task": 1, "model": 1}
)


def test_canonical_json_knows_no_order_and_no_nan():
    assert canonical({"b": 1, "a": [1.0, None, True]}) == '{"a":[1.0,null,true],"b":1}'
    assert canonical({"a": 1, "b": 2}) == canonical({"b": 2, "a": 1})
    for value in (float("nan"), float("inf")):
        with pytest.raises(ValueError):
            canonical({"score": value})


def test_hashes_are_the_same_on_every_machine():
    """Frozen: an edit that changes these would orphan every stored result."""
    assert short_hash({"seed": 0}) == "bd0488843468e63c"
    assert TRAINING.key == "99864a422d3fe0ac"
    assert Evaluation("score").key_for(TRAINING) == "44a59982d1ec07a1"


@pytest.mark.parametrize(
    "change",
    [
        {"suite": "bliss"},
        {"task": "even_pairs"},
        {"model": "lstm"},
        {"engine": "torch"},
        {"setting": {"steps": 11, "model": {"hidden_size": 8}}},
        {"setting": {"steps": 10, "model": {"hidden_size": 9}}},
        {"versions": {"task": 2, "model": 1}},
        {"versions": {"task": 1, "model": "sha256:0123456789abcdef"}},
    ],
)
def test_a_training_is_told_by_everything_that_can_change_a_weight(change: dict):
    other = replace(TRAINING, **change)
    assert other.key != TRAINING.key
    assert Evaluation("score").key_for(other) != Evaluation("score").key_for(TRAINING)


def test_the_order_of_settings_is_no_difference():
    turned = {"model": {"hidden_size": 8}, "steps": 10}
    assert replace(TRAINING, setting=turned, versions={"model": 1, "task": 1}).key == TRAINING.key


def test_an_evaluation_is_told_by_its_training_name_setting_and_version():
    keys = {
        evaluation.key_for(TRAINING)
        for evaluation in (
            Evaluation("score"),
            Evaluation("other"),
            Evaluation("score", {"strings": 5}),
            Evaluation("score", version=2),
            Evaluation("score", version="1"),
        )
    }
    assert len(keys) == 5
    assert Evaluation("score").key_for(TRAINING) == Evaluation("score", {}, 1).key_for(TRAINING)


def test_all_settings_by_name():
    training = replace(TRAINING, setting={"steps": 10, "model": {"hidden_size": 8}, "task": {"order": "code"}})
    assert training.flat == {"steps": 10, "hidden_size": 8, "order": "code"}
    assert replace(TRAINING, setting={"steps": 1}).flat == {"steps": 1}
