"""The suite at work: tiny trainings, their scores, and its data."""

from pathlib import Path
from typing import Any, cast

import pytest
from suite_support import Recording, results_of, run_one, scores_of

from humboldt.core.results import State
from humboldt.errors import Interrupted, UsageError
from humboldt.languages.syntax import draw_split
from humboldt.suites import plans, resolving, suites
from humboldt.suites.capabilities import OffersData
from humboldt.suites.experiments import Experiment, Request
from humboldt.suites.reading import tables
from humboldt.suites.syntax.protocol import PseudoLanguages

SUITE = suites.get("syntax")
assert isinstance(SUITE, OffersData)
TINY = {
    "terminals": "3",
    "train": "32",
    "validation": "8",
    "test": "12",
    "long": "10",
    "epochs": "2",
    "batch_size": "24",
}
SIZES = {
    "lstm": {"embedding_size": "4", "hidden_size": "4"},
    "transformer_encoder": {"width": "4", "num_heads": "2", "feed_forward_size": "4"},
}


def one(task: str, model: str, **settings: str) -> Experiment:
    (experiment,) = plans.plan(SUITE, Request((task,), (model,), "paper", 1, {**TINY, **SIZES[model], **settings}))
    return experiment


@pytest.mark.parametrize("model", SIZES)
def test_a_tiny_run_gives_results_and_a_table(model: str, tmp_path: Path):
    experiment = one("nested_dependency", model)
    sink = Recording()
    results = results_of(run_one(experiment, tmp_path, sink))
    assert len(results) == 3
    for found in results:
        assert found.state is State.FINISHED
        assert set(found.measures) == {"validation", "in_dist", "out_of_dist"}
        assert all(0 <= value <= 1 for value in found.measures.values())
        assert found.measures["in_dist"] * 24 == pytest.approx(round(found.measures["in_dist"] * 24))
        assert set(found.detail["shortcuts"]) == {"in_dist", "out_of_dist"}
        assert found.detail["parameters"]["body"] > 0
        lengths = found.detail["accuracy_per_length"]["lengths"]
        assert lengths[0] >= 4 and lengths[-1] <= 100 and all(length % 2 == 0 for length in lengths)
        assert found.detail["training"]["steps"] == [6]
    assert sink.phases == {"starting", "training", "evaluation"}
    best, mean = tables(SUITE, [scores_of(experiment, results)])
    assert best.columns[:4] == ("Language", "T", "Drawn", "Test") and best.columns[-2:] == ("paper", "Shortcut")
    assert [row[:4] for row in best.texts] == [("nested_dependency", "3", "zipf", test) for test in ("in", "out")]
    assert all(row[-2] == "–" for row in best.texts)  # the paper has no T = 3
    assert "±" in mean.texts[0][-1]
    assert "24 strings of length 4..30 (in) and 20 of 31..100 (out)" in best.notes[0]
    assert "epochs 2 (paper: 15)" in best.notes[-1]


def test_an_interrupted_run_ends_with_the_same_numbers(tmp_path: Path):
    experiment = one("adj_n_np", "lstm", epochs="20", batch_size="8")  # 160 steps: two calls of the compiled program
    straight = results_of(run_one(experiment, tmp_path / "straight"))
    with pytest.raises(Interrupted):
        run_one(experiment, tmp_path / "resumed", Recording(stop_after=0))
    resumed = results_of(run_one(experiment, tmp_path / "resumed"))
    assert [(r.measures, r.detail) for r in straight] == [(r.measures, r.detail) for r in resumed]


def test_transformers_are_trained_by_adamw_and_lstms_by_sgd():
    for model, optimiser in (("lstm", "sgd"), ("transformer_encoder", "adamw")):
        experiment = one("adj_n_np", model)
        job = SUITE.job(resolving.resolved(experiment), experiment.members)
        assert (job.recipe.optimiser, job.recipe.gradient_clip, job.recipe.steps) == (optimiser, None, 6)


def test_an_lstm_learns_adj_n_np(tmp_path: Path):
    settings = {"train": "500", "epochs": "3", "batch_size": "16", "learning_rates": "1.0", "terminals": "2"}
    settings |= {"test": "100", "long": "100", "embedding_size": "16", "hidden_size": "16", "validation": "10"}
    (found,) = results_of(run_one(one("adj_n_np", "lstm", **settings), tmp_path))
    assert found.measures["in_dist"] > 0.95 and found.measures["out_of_dist"] > 0.95


def data(**options: Any) -> list[tuple[list[str], list[str]]]:
    usual: dict[str, Any] = {"split": None, "count": 4, "length": None, "seed": 0, "settings": {"terminals": "3"}}
    return list(cast(OffersData, SUITE).data("cross_serial_dependency", **{**usual, **options}))


def test_data_is_what_a_run_with_the_same_seed_trains_on_or_scores():
    protocol = PseudoLanguages(terminals=(3,))
    language: Any = SUITE.make_task("cross_serial_dependency", protocol, {})
    for name in ("train", "validation", "test", "long"):
        pairs = data(split=name)
        assert [target for _, target in pairs] == [["grammatical"], ["ungrammatical"]] * 2
        assert all(language.oracle(source) == target for source, target in pairs)
        own = draw_split(language, name, 0, protocol.splits)
        assert language.input_alphabet.encode(pairs[0][0]).tolist() == own.tokens[0, : own.lengths[0]].tolist()
    assert data() == data(split="train") != data(seed=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split": "dev"}, "No split named 'dev'.*long, scored, test, train, validation"),
        ({"length": 5}, "a range of lengths"),
        ({"settings": {"epochs": "2"}}, "No setting of the data named 'epochs'"),
        ({"settings": {"terminals": "2,3"}}, "one number of terminals"),
        ({"settings": {"terminals": "0"}}, "at most 100,000"),
        ({"count": 20, "split": "test", "settings": {"test": "5"}}, "has 10 strings.*--set test=10"),
    ],
)
def test_wrong_requests_for_data(options: dict, message: str):
    with pytest.raises(UsageError, match=message):
        data(**options)
