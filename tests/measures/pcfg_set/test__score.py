"""Shares and breakdowns."""

import json

import pytest

from humboldt.errors import UsageError
from humboldt.measures.pcfg_set import Score, Share, break_down
from humboldt.measures.pcfg_set._score import check_lengths


def test_shares():
    assert Share.of([True, False, True, True]) == Share(3, 4)
    assert Share(3, 4).value == 0.75 and Share(0, 0).value is None


def test_an_item_with_several_keys_counts_under_each():
    keys = [frozenset({"a", "b"}), frozenset({"b"}), frozenset()]
    assert break_down([True, False, True], keys) == {"a": Share(1, 1), "b": Share(1, 2)}


def test_keys_are_sorted():
    assert list(break_down([True] * 3, [10, 9, 2])) == [2, 9, 10]


def test_a_score_as_plain_data():
    score = Score("accuracy", Share(1, 2), {"part": Share(0, 0)}, {"length": {3: Share(1, 2)}})
    assert json.loads(json.dumps(score.to_json())) == {
        "n": 2,
        "accuracy": 0.5,
        "part": {"value": None, "n": 0},
        "breakdowns": {"length": {"3": {"value": 0.5, "n": 2}}},
    }


def test_columns_of_different_lengths():
    with pytest.raises(UsageError, match="2 targets, 1 predictions"):
        check_lengths(targets=[1, 2], predictions=[1])
