import numpy as np

from humboldt.store import State
from humboldt.suites._ensemble_training import CURVE_POINTS, curve, results_of
from humboldt.training import Trained

CALLS = 1000
LOSS = np.linspace(1, 0, CALLS)[None].repeat(2, 0)
LOSS[1, 500:] = np.nan
TRAINED = Trained(
    weights=None,
    static=None,
    diverged_at=np.array([-1, 50_000]),
    loss=LOSS,
    accuracy=1 - LOSS,
    steps=100 * np.arange(1, CALLS + 1),
)


def test_a_member_that_diverged_is_not_scored():
    asked = []

    def score(member: int):
        asked.append(member)
        return {"score": 0.5}, {"lengths": [1, 2]}

    well, badly = results_of(TRAINED, [{"seed": 0}, {"seed": 1}], score, seconds=10, shared={"parameters": 7})
    assert asked == [0]
    assert (well.state, well.measures, well.seconds) == (State.FINISHED, {"score": 0.5}, 5)
    assert (badly.state, badly.measures, badly.detail["diverged_at"]) == (State.DIVERGED, {}, 50_000)
    assert well.detail["lengths"] == [1, 2] and "lengths" not in badly.detail
    assert well.detail["parameters"] == badly.detail["parameters"] == 7


def test_a_long_curve_is_thinned_and_keeps_both_ends():
    found = curve(TRAINED, 0)
    assert len(found["steps"]) == len(found["loss"]) == len(found["accuracy"]) == CURVE_POINTS
    assert (found["steps"][0], found["steps"][-1]) == (100, 100_000)
    assert (found["loss"][0], found["loss"][-1], found["accuracy"][-1]) == (1, 0, 1)


def test_what_is_not_finite_is_none():
    assert curve(TRAINED, 1)["loss"][-1] is None
    assert curve(TRAINED, 1)["loss"][0] == 1
