"""Answers of a model to this suite: the floor is the best linear shortcut."""

import pytest

from humboldt.core.results import Result, State
from humboldt.suites.syntax.answer import best_shortcut


def member(shortcuts: dict[str, float] | None) -> Result:
    detail = {"shortcuts": {"out_of_dist": shortcuts}} if shortcuts else {}
    return Result({"seed": 0}, State.FINISHED, {}, 1.0, detail, {})


@pytest.mark.parametrize(
    ("shortcuts", "floor"),
    [
        ({"length": 0.5, "bigrams": 0.65, "category_first_last": 0.76}, 0.76),
        ({"length": 0.5, "category_bag_quadratic": 0.99}, 0.5),  # decides by products of counts
        (None, 0.5),
    ],
)
def test_the_floor_is_the_best_linear_shortcut(shortcuts: dict[str, float] | None, floor: float):
    assert best_shortcut([member(None), member(shortcuts)]) == floor
