"""The MDLRNN as a model of the BLISS suite."""

import json
from itertools import pairwise
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from humboldt.errors import Interrupted, RunError, UsageError
from humboldt.mdl import PAPER_ACTIVATIONS, Network, StateGraph, description_length, published_networks, to_svg
from humboldt.measures.bliss import evaluate
from humboldt.store import State
from humboldt.suites import _bliss_search, suites
from humboldt.suites._base import Request, Watcher
from humboldt.suites._bliss_scoring import Scorer
from humboldt.suites._bliss_search import GraphStepper, corpus_trie
from humboldt.suites.bliss import Bliss

SUITE = cast(Bliss, suites.get("bliss"))
SHORT = {"factors": "10", "order": "2", "generations": "60", "population_size": "50"}


def experiment(task: str = "an_bn", **settings: str):
    (found,) = SUITE.plan(Request([task], ["mdlrnn"], "paper", None, {**SHORT, **settings}))
    return found


def test_the_published_network_for_an_bn_is_right_at_every_n():
    cell = SUITE.cell(experiment().run)
    network = published_networks()["an_bn_figure_4"]
    assert network.symbols == cell.language.input_alphabet.symbols
    test_set = cell.language.test_set(after=20, count=500)
    found = evaluate(test_set, GraphStepper(network), epsilons=(0.0,))
    assert found.score(cell.language.measure, 0.0).met_over_test_set


def test_a_network_whose_states_do_not_recur_is_scored_all_the_same(monkeypatch: pytest.MonkeyPatch):
    scorer = Scorer(SUITE.cell(experiment().run))
    network = published_networks()["an_bn_figure_4"]
    expected = _bliss_search.score(scorer, network)
    monkeypatch.setattr(_bliss_search, "StateGraph", lambda network: StateGraph(network, capacity=4, limit=8))
    with pytest.raises(RunError, match="do not recur"):
        scorer.score(lambda longest: (GraphStepper(network), 10))
    assert _bliss_search.score(scorer, network) == expected


def test_a_short_search_gives_results_that_can_be_read_back(tmp_path: Path):
    told: list[str] = []
    planned = experiment()
    (result,) = SUITE.execute(planned, tmp_path, Watcher(progress=lambda *args: told.append(args[3])))
    assert result.state is State.FINISHED and result.measures["mdl"] > result.measures["grammar_bits"] > 0
    assert any("|G|" in text for text in told)
    network = Network.from_json(json.dumps(result.detail["network"]))
    assert "<svg" in to_svg(network)
    (table,) = SUITE.tables([(planned.run, [result])])
    assert any("MDLRNN" in " ".join(row) or "mdlrnn" in " ".join(row) for row in table.rows)
    assert any("another search than the paper's" in note for note in table.notes)


def test_stopped_and_resumed_it_finds_the_same_network(tmp_path: Path):
    whole = SUITE.execute(experiment(), tmp_path / "whole", Watcher())
    asked = iter([False, True])
    with pytest.raises(Interrupted):
        SUITE.execute(experiment(), tmp_path / "parts", Watcher(should_stop=lambda: next(asked)))
    resumed = SUITE.execute(experiment(), tmp_path / "parts", Watcher())
    assert whole[0].measures == resumed[0].measures and whole[0].detail == resumed[0].detail
    newest = max((tmp_path / "parts/search-100").glob("*.ckpt"))
    newest.write_bytes(newest.read_bytes()[:50])
    warnings: list[str] = []
    again = SUITE.execute(experiment(), tmp_path / "parts", Watcher(warn=warnings.append))
    assert len(warnings) == 1 and "Damaged checkpoint" in warnings[0]
    assert again[0].measures == whole[0].measures


def test_the_code_length_of_the_corpus_is_the_sum_over_its_strings():
    cell = SUITE.cell(experiment().run)
    network = published_networks()["an_bn_figure_4"]
    stepper = GraphStepper(network)
    bits = 0.0
    for string in cell.corpus.strings:
        state = stepper.init(1)
        ids = cell.language.input_alphabet.encode(["#", *string, "#"])
        for symbol, following in pairwise(ids.tolist()):
            state, distribution = stepper.step(state, np.array([symbol]))
            bits -= np.log2(distribution[0, following])
    assert description_length(network, corpus_trie(cell), PAPER_ACTIVATIONS).data == pytest.approx(bits)


def test_wrong_settings():
    with pytest.raises(UsageError, match="generations is 0"):
        experiment(generations="0")
    with pytest.raises(UsageError, match="activations is one of paper, wide, extended"):
        experiment(activations="all")
