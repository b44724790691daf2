"""The suite at work: tiny trainings, their scores and a table."""

from pathlib import Path

import numpy as np
import pytest
from suite_support import Recording, results_of, run_one, scores_of

from humboldt.core.events import Silent
from humboldt.core.results import State
from humboldt.errors import Interrupted
from humboldt.storage.checkpoints import Checkpoints
from humboldt.suites import plans, resolving, suites
from humboldt.suites.bliss.problem import NextSymbol
from humboldt.suites.experiments import Experiment, Request
from humboldt.suites.reading import tables
from humboldt.training.engines.jax import make_ensemble
from humboldt.training.ensemble.predictor import EnsemblePredictor

SUITE = suites.get("bliss")
TINY = {"order": "1", "factors": "1", "epochs": "3", "hidden_size": "4", "penalties": "none,l2", "strengths": "0.1"}


def first(model: str, seeds: int = 1, **settings) -> Experiment:
    chosen = {key: value for key, value in TINY.items() if key != "hidden_size" or model == "lstm"}
    return plans.plan(SUITE, Request(("an_bn",), (model,), "paper", seeds, {**chosen, **settings}))[0]


@pytest.mark.parametrize("model", ["lstm", "stack_lstm"])
def test_a_tiny_run_gives_results_and_a_table(tmp_path: Path, model: str):
    experiment = first(model, seeds=2)
    sink = Recording()
    results = results_of(run_one(experiment, tmp_path, sink))
    assert len(results) == 4 and sink.phases == {"starting", "training", "evaluation"}
    for found in results:
        assert found.state is State.FINISHED and found.measures["met_0"] == 0 and "training_loss" in found.measures
        assert found.detail["scores"][0]["first_failure"] is not None
    (table,) = tables(SUITE, [scores_of(experiment, results)])
    (row,) = table.texts
    assert row[0] == "an_bn" and row[6] == "<1" and row[-2:] == ("10", "4")
    assert "order 1 (paper: 3)" in table.notes[-1]


def test_a_run_can_be_stopped_and_resumed(tmp_path: Path):
    experiment = first("lstm")
    with pytest.raises(Interrupted):
        run_one(experiment, tmp_path / "parts", Recording(stop_after=0))
    assert list((tmp_path / "parts").glob("checkpoints/*/*.ckpt"))
    resumed, straight = (results_of(run_one(experiment, tmp_path / name)) for name in ("parts", "straight"))
    assert [r.measures for r in resumed] == [r.measures for r in straight]


def test_the_loss_on_the_corpus_is_the_training_loss(tmp_path: Path):
    experiment = first("lstm", epochs="1", penalties="none")
    job = SUITE.job(resolving.resolved(experiment), experiment.members)
    assert isinstance(job.problem, NextSymbol)
    ensemble = make_ensemble(job)
    before = EnsemblePredictor(ensemble.fresh().learners.weights, ensemble.static, job.problem)
    losses = job.problem.corpus_losses(before.nats(job.problem.training_set()))
    trained = ensemble.train(Checkpoints(tmp_path), Silent())
    np.testing.assert_allclose(losses, trained.loss[:, 0], rtol=1e-5)


def test_penalties_are_the_members_own():
    experiment = first("lstm", penalties="none,l1,l2", strengths="0.1,0.5")
    job = SUITE.job(resolving.resolved(experiment), experiment.members)
    assert [(m.l1, m.l2) for m in job.members] == [(0, 0), (0.1, 0), (0.5, 0), (0, 0.1), (0, 0.5)]
    assert job.recipe.gradient_clip is None and {m.learning_rate for m in job.members} == {1e-3}
