"""The curve of Figure 3."""

import numpy as np
import pytest

from humboldt.errors import UsageError
from humboldt.measures.bias import per_example_curve
from humboldt.measures.bias._statistics import bootstrap


def test_nats_are_divided_by_the_examples_that_are_left():
    rng = np.random.default_rng(0)
    early, late = rng.exponential(size=(20, 990)), rng.exponential(size=(20, 10)) / 10
    points = per_example_curve({990: late.tolist(), 10: early.tolist()})
    assert [point.seen for point in points] == [10, 990]
    assert points[0].nats == pytest.approx(early.mean()) and points[1].nats == pytest.approx(late.mean())
    assert points[0].interval == bootstrap(early.mean(1), 0.9) and points[0].seeds == 20


def test_seeds_without_examples():
    with pytest.raises(UsageError, match="After 990 examples a seed has no nats"):
        per_example_curve({990: [[1.0], []]})
