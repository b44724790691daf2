"""Sizes of families by their parameters."""

import pytest

from humboldt.errors import UsageError
from humboldt.running.budgets import size_for, size_of


def test_the_body_of_an_lstm_is_counted_by_hand():
    assert size_of("family/lstm", {"hidden_size": 64}).body == 4 * 64 * (64 + 64) + 2 * 4 * 64
    assert size_of("family/lstm").state_floats == 2 * 64
    assert size_of("family/transformer", {"layers": 3, "width": 8}).state_floats == 3 * 2 * 40 * 8


@pytest.mark.parametrize("name", ["family/lstm", "family/transformer"])
def test_the_nearest_size_is_found(name: str):
    goal = 33_280
    found = size_for(name, goal)
    assert abs(size_of(name, found).body - goal) <= 0.05 * goal


def test_no_other_size_is_nearer():
    distances = {size: abs(size_of("family/gru", {"hidden_size": size}).body - 20_300) for size in range(54, 62)}
    nearest = min(distances, key=lambda size: distances[size])
    assert size_for("family/gru", 20_300) == {"hidden_size": nearest} and 54 < nearest < 61


def test_what_is_no_family_has_no_size():
    with pytest.raises(UsageError, match="is not a family"):
        size_for("lstm", 1000)
