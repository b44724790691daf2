"""The protocol of Lan et al. (2023): what is trained, and what competes for one cell."""

from collections import Counter

import pytest
from suite_support import departures_of, result, scores_of

from humboldt.errors import UsageError
from humboldt.suites import catalogue, plans, resolving, suites
from humboldt.suites.bliss.problem import NextSymbol
from humboldt.suites.experiments import Experiment, Request
from humboldt.suites.reading import tables

SUITE = suites.get("bliss")
GRADIENT = ("lstm", "stack_lstm", "baby_ntm")  # the MDLRNN is searched for


def plan(**options) -> list[Experiment]:
    return plans.plan(SUITE, Request(**{"preset": "paper", **options}))


def one(task: str, model: str, **settings) -> Experiment:
    (experiment,) = plan(tasks=(task,), models=(model,), settings=settings)
    return experiment


@pytest.fixture(scope="module")
def paper() -> list[Experiment]:
    return plan()


def test_the_paper_preset_is_the_paper(paper: list[Experiment]):
    cells = {(e.training.task, e.training.model) for e in paper}
    assert cells == {(task, model) for task in catalogue.tasks(SUITE) for model in SUITE.contenders}
    by_gradient = [e for e in paper if e.training.model in GRADIENT]
    assert departures_of(SUITE, by_gradient) == ""
    searched = [e for e in paper if e.training.model == "mdlrnn"]
    assert departures_of(SUITE, searched) == (
        "Not the paper's setting: another search than the paper's, described in docs/mdl.md."
    )
    assert {len(e.members) for e in searched} == {1} and {e.training.engine for e in searched} == {"search"}
    for experiment in by_gradient:
        protocol = resolving.resolved(experiment).protocol
        assert {member["seed"] for member in experiment.members} == {100, 101, 102}
        is_lstm = experiment.training.model == "lstm"
        assert len(experiment.members) == (21 if is_lstm else 3)
        assert protocol.batch_size == (None if is_lstm else 1)
        assert protocol.learning_rates == ((1e-3,) if is_lstm else (1e-2,))


def test_sizes_of_corpus_and_test(paper: list[Experiment]):
    for experiment in paper:
        if (experiment.training.task, experiment.training.model) == ("dyck_1", "baby_ntm"):
            parts = resolving.resolved(experiment)
            problem = NextSymbol(parts.task, parts.protocol)
            assert problem.sizes.train * problem.sizes.test == 1_000_000
            assert len(problem.corpus) == problem.sizes.train


def test_what_the_paper_sweeps_are_trainings_that_compete_for_one_cell(paper: list[Experiment]):
    counts = Counter(e.training.model for e in paper if e.training.task == "an_bn")
    # Four sizes each. A stack of 100 holds what one of 50 holds where no string is longer, and is not run again.
    assert counts == {"lstm": 4 * 3, "stack_lstm": 4 * 2, "baby_ntm": 4 * 2, "mdlrnn": 4}
    stacks = {
        e.training.setting["model"]["stack_size"]
        for e in paper
        if (e.training.task, e.training.model) == ("an_bm_cn_plus_m", "stack_lstm")
    }
    assert stacks == {50, 100}
    assert len(plan(tasks=("an_bn",), models=("lstm",), settings={"hidden_size": "2"})) == 4


def test_settings_decide_what_competes_and_not_who_asked():
    first, second = (
        plan(tasks=("an_bn",), models=("lstm",), settings=settings)[0]
        for settings in ({"hidden_size": "2"}, {"hidden_size": "32", "penalties": "none"})
    )
    other = one("an_bn", "lstm", hidden_size="4", factors="1")
    found = [
        scores_of(e, [result(e.members[0], {"met_0": 0.0}, detail={"scores": []})]) for e in (first, second, other)
    ]
    # All are members of `quick`, and only a part of what the paper ran.
    assert [table.title for table in tables(SUITE, found)] == ["bliss, quick", "bliss, quick, hidden_size=4"]
    penalised = scores_of(first, [result(first.members[-1], {"met_0": 0.0}, detail={"scores": []})])
    assert [table.title for table in tables(SUITE, [penalised, *found[1:2]])] == ["bliss, paper"]
    penalised = scores_of(other, [result(other.members[-1], {"met_0": 0.0}, detail={"scores": []})])
    assert [table.title for table in tables(SUITE, [penalised])] == ["bliss, paper, hidden_size=4"]
    assert "hidden_size 4 (paper: 2, 32, 128)" in departures_of(SUITE, [other])


def test_a_sweep_that_is_cut_short_is_a_departure():
    experiments = plan(tasks=("an_bn",), models=("lstm",), settings={"hidden_size": "32"})
    assert departures_of(SUITE, experiments) == ("Not the paper's setting: only hidden_size 32 (paper: 2, 32, 128).")
    found = result(experiments[0].members[0], {"met_0": 0.0}, detail={"scores": []})
    (table,) = tables(SUITE, [scores_of(experiments[0], [found])])
    assert "only hidden_size 32 (paper: 2, 32, 128)" in table.notes[-1]


@pytest.mark.parametrize("model", GRADIENT)
def test_quick_says_how_it_departs(model: str):
    text = departures_of(SUITE, plan(preset="quick", models=(model,)))
    assert "only factor 1, 4 (paper: 1, 2, 4, 10)" in text
    assert ("seeds 2 (paper: 3)" in text) == (model != "lstm")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tasks": ("anbn",)}, "No task named 'anbn'. Did you mean 'an_bn'"),
        ({"models": ("lstn",)}, "No model named 'lstn'. Did you mean 'lstm'"),
        ({"settings": {"epoch": "1"}}, "No setting named 'epoch'. Did you mean 'epochs'"),
        ({"settings": {"factors": "2000"}}, "Factor 2000 at order 3 leaves no training string"),
        ({"settings": {"p": "1.2"}}, "p=1.2: p must be a number of at least 0.001 and of at most 1"),
        ({"settings": {"p": "1"}}, "p=1: a prior of these grammars lies between 0 and 1"),
        ({"settings": {"epochs": "0"}}, "epochs=0: epochs must be a whole number of at least 1"),
        ({"settings": {"penalties": "l3"}}, "each one of none, l1, l2"),
        ({"settings": {"strengths": "-1"}}, "each a number above 0"),
        ({"settings": {"evaluate": "all"}}, "No setting named 'evaluate'"),
        ({"seeds": 0}, "whole number of at least 1"),
        ({"tasks": ("dyck_1",), "settings": {"p": "0.7"}}, "p = 0.7"),
        ({"models": ("mdlrnn",), "settings": {"generations": "0"}}, "generations"),
        ({"models": ("mdlrnn",), "settings": {"activations": "all"}}, "activations.*paper, wide, extended"),
    ],
)
def test_wrong_requests(options: dict, message: str):
    with pytest.raises(UsageError, match=message):
        plan(**options)


def test_more_members_are_more_members_of_the_same_training():
    few, many = (one("an_bn", "lstm", hidden_size="2", factors="1", penalties=p) for p in ("none", "none,l1"))
    assert few.training.key == many.training.key and set(map(str, few.members)) < set(map(str, many.members))


def test_one_factor_is_the_same_training_however_it_was_asked_for():
    alone = one("an_bn", "lstm", hidden_size="2", factors="4")
    among = plan(tasks=("an_bn",), models=("lstm",), settings={"hidden_size": "2", "factors": "1,4"})
    assert alone.training.key == among[1].training.key and alone.training.setting["factor"] == 4
    assert one("an_bn", "lstm", hidden_size="2", factors="4", test_memory="3").training.key == alone.training.key
