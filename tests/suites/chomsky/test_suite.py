"""The suite at work: a tiny training, its scores, its data, and what earlier versions stored."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from suite_support import TINY, Recording, departures_of, results_of, run_one, scores_of, scoring_input

from humboldt.core.results import State
from humboldt.errors import Interrupted, UsageError
from humboldt.languages import Batch
from humboldt.suites import catalogue, plans, resolving, suites
from humboldt.suites.capabilities import OffersData
from humboldt.suites.chomsky import Chomsky
from humboldt.suites.chomsky.problem import Transduction
from humboldt.suites.experiments import Experiment, Request
from humboldt.suites.reading import tables
from humboldt.training.abilities import CountsRight
from humboldt.training.base import AbstractPredictor

SUITE = suites.get("chomsky")
assert isinstance(SUITE, Chomsky)


def one(task: str, model: str, seeds: int | None = None, **settings) -> Experiment:
    (experiment,) = plans.plan(SUITE, Request((task,), (model,), "paper", seeds, {**TINY, **settings}))
    return experiment


def test_a_tiny_run_gives_results_and_a_table(tmp_path: Path):
    experiment = one("cycle_navigation", "rnn", seeds=1, learning_rates=(1e-4, 3e-4, 5e-4))
    sink = Recording()
    results = results_of(run_one(experiment, tmp_path, sink))
    assert [found.member["learning_rate"] for found in results] == [1e-4, 3e-4, 5e-4]
    for found in results:
        assert found.state is State.FINISHED and 0 <= found.measures["score"] <= 1
        curve = found.detail["accuracy_per_length"]
        assert curve["lengths"] == [7, 8, 9]
        assert found.measures["score"] == pytest.approx(sum(curve["accuracy"]) / 3)
        assert found.detail["training"]["steps"] == [20]
    assert sink.phases == {"starting", "training", "evaluation"}
    table, *_ = tables(SUITE, [scores_of(experiment, results)])
    assert table.columns == ("Level", "Task", "Chance", "Floor", "RNN", "paper")
    assert table.texts[0][:3] == ("regular", "cycle_navigation", "20") and table.texts[0][5] == "100.0"
    assert "7..9" in table.notes[1] and "steps 20 (paper: 1,000,000)" in table.notes[2]


def test_scoring_can_be_stopped(tmp_path: Path):
    experiment = one("parity_check", "rnn", seeds=1, strings_per_length=1000)
    with pytest.raises(Interrupted):
        run_one(experiment, tmp_path, Recording(stop_after=1))  # the question after training is answered with no
    assert list(tmp_path.glob("checkpoints/*/*.ckpt"))


class Guesser(AbstractPredictor, CountsRight):
    """Anybody's model: right at the first symbol of every string, and at nothing else."""

    num_members = 1

    def take(self, members: Sequence[int]) -> "Guesser":
        del members
        return self

    def correct(self, batch: Batch, *, number: int = 0) -> np.ndarray:
        del number
        return np.minimum(batch.target_mask.sum(1), 1)[None]


def test_anybodys_predictor_is_scored_and_accuracy_can_be_pooled():
    found = {}
    for pooled in (False, True):
        experiment = one("stack_manipulation", "rnn", pooled_accuracy=pooled, test_lengths=(7, 40))
        evaluation = experiment.evaluations[0]
        parts = resolving.resolve(SUITE, experiment.training, evaluation)
        ((measures, detail),) = SUITE.score(
            scoring_input(SUITE, parts, evaluation, Guesser(), experiment.members[:1], Recording())
        )
        expected = []
        for _, pairs in Transduction(parts.task, parts.protocol).test_pairs():
            lengths = pairs.target_lengths
            expected.append(len(lengths) / lengths.sum() if pooled else (1 / lengths).mean())
        np.testing.assert_allclose(detail["accuracy_per_length"]["accuracy"], expected)
        assert measures["score"] == pytest.approx(np.mean(expected))
        found[pooled] = measures["score"]
    assert found[True] != found[False]


def test_what_a_predictor_cannot_do_is_told():
    class Mute(AbstractPredictor):
        num_members = 1

        def take(self, members: Sequence[int]) -> "Mute":
            del members
            return self

    experiment = one("parity_check", "rnn")
    parts = resolving.resolved(experiment)
    with pytest.raises(UsageError, match="needs models that can say which symbols are right, and `Mute` cannot"):
        SUITE.score(scoring_input(SUITE, parts, experiment.evaluations[0], Mute(), experiment.members[:1], Recording()))


def test_data():
    def data(task: str = "parity_check", **options: Any) -> list:
        usual: dict[str, Any] = {"split": None, "count": 3, "length": 5, "seed": 1, "settings": {}}
        return list(cast(OffersData, SUITE).data(task, **{**usual, **options}))

    pairs = data()
    assert pairs == data() != data(seed=2)
    assert all(len(source) == 5 and target in (["a"], ["b"]) for source, target in pairs)
    assert all(1 <= len(source) <= 40 for source, _ in data(length=None, count=50))
    assert data("odds_first", settings={"order": "code"}) != data("odds_first")
    wrong: tuple[tuple[dict[str, Any], str], ...] = (
        ({"split": "train"}, "fresh strings for training"),
        ({"task": "parity"}, "Did you mean 'parity_check'"),
        ({"settings": {"order": "code"}}, "No setting named 'order'.*parity_check has: none"),
        ({"task": "odds_first", "settings": {"order": "x"}}, "order must be one of paper, code"),
    )
    for options, message in wrong:
        with pytest.raises(UsageError, match=message):
            data(**options)


def test_another_model_of_the_same_kind_of_problem_can_be_asked_for():
    assert catalogue.models(SUITE)[: len(SUITE.contenders)] == list(SUITE.contenders)
    outside = [name for name in catalogue.models(SUITE) if name not in SUITE.contenders]
    for name in outside:
        assert catalogue.contender(SUITE, name).model == name
    assert departures_of(SUITE, [one("parity_check", "rnn")]).startswith("Not the paper's setting")
