"""The JAX engine: jobs in, trained members and predictors out."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from suite_support import Recording
from training_support import Parity

from humboldt.languages import Batch
from humboldt.models.zoo.rnn import RNN
from humboldt.storage.checkpoints import Checkpoints
from humboldt.training.abilities import CountsRight, ability
from humboldt.training.base import AbstractPredictor, Job, MemberRecipe, Milestone, Recipe, engines
from humboldt.training.engines.jax import JaxTrained
from humboldt.training.ensemble.train import TrainedEnsemble
from humboldt.training.spans import CURVE_POINTS, curve

ENGINE = engines.get("jax")
CALLS = 1000
LOSS = np.linspace(1, 0, CALLS)[None].repeat(2, 0)
LOSS[1, 500:] = np.nan
TRAINED = TrainedEnsemble(
    weights=None,
    static=None,
    diverged_at=np.array([-1, 50_000]),
    loss=LOSS,
    accuracy=1 - LOSS,
    steps=100 * np.arange(1, CALLS + 1),
    milestones=(),
)


def job(members: int = 2, problem: Parity | None = None, **options) -> Job:
    recipes = tuple(MemberRecipe(seed, 1e-2) for seed in range(members))
    return Job(RNN(hidden_size=8), problem or Parity(), Recipe(steps=110), recipes, **options)


def right(predictor: AbstractPredictor, batch: Batch) -> np.ndarray:
    return ability(predictor, CountsRight).correct(batch)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory):
    return ENGINE.train(job(), Checkpoints(tmp_path_factory.mktemp("trained")), Recording())


def test_a_member_that_diverged_says_when():
    class Two(AbstractPredictor):
        num_members = 2

        def take(self, members):
            raise NotImplementedError

    well, badly = JaxTrained(TRAINED, Two()).outcomes
    assert well.diverged_at is None and "diverged_at" not in well.detail
    assert badly.diverged_at == badly.detail["diverged_at"] == 50_000
    assert badly.detail["training"]["loss"][-1] is None


def test_a_long_curve_is_thinned_and_keeps_both_ends():
    found = curve(TRAINED, 0)
    assert len(found["steps"]) == len(found["loss"]) == len(found["accuracy"]) == CURVE_POINTS
    assert (found["steps"][0], found["steps"][-1]) == (100, 100_000)
    assert (found["loss"][0], found["loss"][-1], found["accuracy"][-1]) == (1, 0, 1)


def test_what_is_not_finite_is_none():
    assert curve(TRAINED, 1)["loss"][-1] is None
    assert curve(TRAINED, 1)["loss"][0] == 1


def test_members_are_restored_from_their_weights(trained):
    batch = Parity().batch(500)
    weights = [trained.weights(1), trained.weights(0)]
    assert all(isinstance(array, np.ndarray) for array in weights[0].values())
    again = ENGINE.restore(job(), weights)
    np.testing.assert_array_equal(right(again, batch), right(trained.predictor, batch)[[1, 0]])
    assert trained.outcomes[0].detail["training"]["steps"] == [100, 110]


def test_weights_of_another_model_are_refused(trained):
    other = Job(RNN(hidden_size=9), Parity(), Recipe(steps=1), (MemberRecipe(0, 1e-2),))
    with pytest.raises(ValueError, match="shape"):
        ENGINE.restore(other, [trained.weights(0)])


def test_records_with_an_entry_for_each_member_are_kept_with_it():
    class Two(AbstractPredictor):
        num_members = 2

        def take(self, members):
            raise NotImplementedError

    found = JaxTrained(replace(TRAINED, milestones=([1, 2], {"of": "all"}, [3, 4])), Two())
    assert [outcome.detail["milestones"] for outcome in found.outcomes] == [[1, 3], [2, 4]]
    assert "milestones" not in JaxTrained(TRAINED, Two()).outcomes[0].detail


def test_milestones_are_shown_a_predictor(tmp_path: Path, trained):
    batch, seen = Parity().batch(500), []

    def look(step: int, predictor: AbstractPredictor) -> Milestone:
        seen.append((step, predictor.num_members, right(predictor, batch)))
        return Milestone(record={"step": step})

    found = ENGINE.train(job(problem=Parity(milestones=(40, 110)), milestone=look), Checkpoints(tmp_path), Recording())
    assert [(step, members) for step, members, _ in seen] == [(40, 2), (110, 2)]
    assert found.milestones == ({"step": 40}, {"step": 110})
    np.testing.assert_array_equal(seen[-1][2], right(trained.predictor, batch))


def test_an_estimate_does_not_train():
    predictor, seconds = ENGINE.sample(job(3))
    assert predictor.num_members == 3 and seconds > 0
    _, same = ENGINE.sample(job(3))
    assert same == pytest.approx(seconds)  # measured once


def test_the_environment_names_the_device():
    assert {"jax", "equinox", "optax", "device", "humboldt"} <= set(ENGINE.environment())
