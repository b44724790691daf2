"""Networks that are searched for by description length, as models of the BLISS suite."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from suite_support import Recording, results_of, run_one, scores_of, scoring_input

from humboldt.core.events import Silent
from humboldt.core.results import State
from humboldt.errors import Interrupted
from humboldt.mdl import PAPER_ACTIVATIONS, Network, NetworkStepper, description_length, published_networks, to_svg
from humboldt.mdl.proofs import Proved, prove
from humboldt.measures.bliss import evaluate
from humboldt.storage.checkpoints import Checkpoints
from humboldt.suites import plans, resolving, suites
from humboldt.suites.bliss.problem import NextSymbol
from humboldt.suites.experiments import Experiment, Request
from humboldt.suites.reading import tables
from humboldt.training.abilities import GivesProbabilities, ReadsSymbols
from humboldt.training.base import Job, engines
from humboldt.training.engines.search import SearchPredictor, corpus_trie

SUITE = suites.get("bliss")
SHORT = {"factors": "10", "order": "2", "generations": "40", "population_size": "20"}


def planned(**settings: str) -> Experiment:
    (found,) = plans.plan(SUITE, Request(("an_bn",), ("mdlrnn",), "paper", None, {**SHORT, **settings}))
    return found


def job_of(experiment: Experiment) -> Job:
    return SUITE.job(resolving.resolved(experiment), experiment.members)


def problem() -> NextSymbol:
    found = job_of(planned()).problem
    assert isinstance(found, NextSymbol)
    return found


def test_the_published_network_for_an_bn_is_right_at_every_n():
    language = problem().language
    network = published_networks()["an_bn_figure_4"]
    assert network.symbols == language.input_alphabet.symbols
    test_set = language.test_set(after=20, count=500)
    found = evaluate(test_set, NetworkStepper(network), epsilons=(0.0,))
    assert found.score(language.measure, 0.0).met_over_test_set


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory):
    """One short search, uninterrupted."""
    sink = Recording()
    return run_one(planned(), tmp_path_factory.mktemp("whole"), sink, keep="all"), sink


def test_a_short_search_gives_results_that_can_be_read_back(whole):
    outcome, sink = whole
    (found,) = results_of(outcome)
    assert found.state is State.FINISHED and found.measures["mdl"] > found.measures["grammar_bits"] > 0
    assert any("|G|" in getattr(event, "remark", "") for event in sink.events) and "search 1/1" in sink.phases
    network = Network.from_json(json.dumps(found.detail["network"]))
    assert "<svg" in to_svg(network)
    (table,) = tables(SUITE, [scores_of(planned(), [found])])
    assert any("MDLRNN" in " ".join(row) for row in table.texts)
    assert any("another search than the paper's" in note for note in table.notes)
    assert "jax" not in found.environment  # a search does not use it


def test_a_verdict_for_all_n_is_stored_with_the_score(whole):
    (found,) = results_of(whole[0])
    assert set(found.detail["proofs"]) == {"0", "0.005"}
    verdict = found.detail["proofs"]["0"]
    assert verdict["verdict"] == "Refuted"  # forty generations find nothing that counts
    assert found.measures["proved_0"] == 0 and "proved_mdl" not in found.measures
    (table,) = tables(SUITE, [scores_of(planned(), [found])])
    assert "all n" in table.columns


@pytest.mark.parametrize(
    ("task", "network", "expected"),
    [("an_bn", "an_bn_figure_4", "Proved"), ("dyck_1", "dyck_1", "Proved"), ("dyck_2", "dyck_1", None)],
)
def test_a_predictor_tells_what_is_proved_of_a_language_that_is_covered(task: str, network: str, expected: str | None):
    predictor = SearchPredictor([published_networks()[network]], corpus_trie(problem()), job_of(planned()))
    measure = "M_det" if task == "an_bn" else "M_cat"
    verdict = predictor.verdict(0, language=f"bliss/{task}", measure=measure, epsilon=0.005)
    assert (verdict and verdict["verdict"]) == expected


def test_the_shortest_proved_network_is_kept_beside_the_shortest(tmp_path: Path):
    experiment = planned(keep_proved="true", factors="1", generations="100", population_size="100", first_seed="2")
    outcome = run_one(experiment, tmp_path, keep="all")
    (found,) = results_of(outcome)
    kept = Network.from_json(json.dumps(found.detail["proved_network"]))
    assert isinstance(prove(kept, "an_bn"), Proved)
    assert found.measures["mdl"] <= found.measures["proved_mdl"]
    trie = corpus_trie(job_of(experiment).problem)
    assert found.measures["proved_mdl"] == description_length(kept, trie, PAPER_ACTIVATIONS).total
    ((_, arrays),) = outcome.weights
    restored = engines.get("search").restore(job_of(experiment), [arrays]).take([0])
    assert restored.about(0)[0]["proved_mdl"] == found.measures["proved_mdl"]
    (table,) = tables(SUITE, [scores_of(experiment, [found])])
    assert (
        f"({found.measures['proved_mdl']:.1f})" in dict(zip(table.columns, table.texts[0], strict=True))["bits, proved"]
    )


def test_keeping_proved_networks_changes_no_identity_while_it_is_off():
    assert "keep_proved" not in planned().training.setting["model"]
    assert planned(keep_proved="true").training.key != planned().training.key
    (dyck_2,) = plans.plan(SUITE, Request(("dyck_2",), ("mdlrnn",), "paper", None, {**SHORT, "keep_proved": "true"}))
    assert dyck_2.training.setting["model"]["keep_proved"]  # where there are no proofs it keeps nothing


def test_kept_networks_are_restored_and_score_the_same(whole):
    outcome, _ = whole
    ((member, arrays),) = outcome.weights
    experiment = planned()
    engine, job = engines.get("search"), job_of(experiment)
    predictor = engine.restore(job, [arrays])
    parts = resolving.resolved(experiment)
    ((measures, _),) = SUITE.score(
        scoring_input(SUITE, parts, experiment.evaluations[0], predictor, (member,), Silent())
    )
    assert measures == results_of(outcome)[0].measures


def test_stopped_and_resumed_it_finds_the_same_network(tmp_path: Path, whole):
    (expected,) = results_of(whole[0])
    with pytest.raises(Interrupted):
        run_one(planned(), tmp_path, Recording(stop_after=0))
    (resumed,) = results_of(run_one(planned(), tmp_path))
    assert (resumed.measures, resumed.detail) == (expected.measures, expected.detail)
    newest = max(tmp_path.glob("checkpoints/*/search-100/*.ckpt"))
    newest.write_bytes(newest.read_bytes()[:50])
    sink = Recording()
    (again,) = results_of(run_one(planned(), tmp_path, sink))
    assert len(sink.warnings) == 1 and "Damaged checkpoint" in sink.warnings[0]
    assert again.measures == expected.measures


def test_the_code_length_of_the_corpus_is_the_sum_over_its_strings():
    corpus = problem()
    network = published_networks()["an_bn_figure_4"]
    stepper = NetworkStepper(network)
    bits = 0.0
    for string in corpus.corpus.strings:
        state = stepper.init(1)
        ids = corpus.language.input_alphabet.encode(["#", *string, "#"])
        for symbol, following in pairwise(ids.tolist()):
            state, distribution = stepper.step(state, np.array([symbol]))
            bits -= np.log2(distribution[0, following])
    assert description_length(network, corpus_trie(corpus), PAPER_ACTIVATIONS).data == pytest.approx(bits)


def test_some_of_the_networks():
    networks = list(published_networks().values())
    job = job_of(planned())
    predictor = SearchPredictor(networks, corpus_trie(job.problem), job)
    assert predictor.num_members == len(networks) >= 2
    assert [n.to_json() for n in predictor.take([1, 0]).networks] == [networks[1].to_json(), networks[0].to_json()]
    assert isinstance(predictor, ReadsSymbols) and not isinstance(predictor, GivesProbabilities)


def test_an_estimate_counts_every_member():
    experiment = planned(seeds="3")
    predictor, seconds = engines.get("search").sample(job_of(experiment))
    assert predictor.num_members >= 1 and seconds > 0


def test_members_are_searched_for_one_after_the_other(tmp_path: Path):
    experiment = planned(seeds="2", generations="5")
    trained = engines.get("search").train(job_of(experiment), Checkpoints(tmp_path), Silent())
    assert len(trained.outcomes) == 2 and {path.name for path in tmp_path.iterdir()} == {"search-100", "search-101"}
