"""The protocol of Lan et al. (2023): what is trained on, how members are scored, how it is shown."""

import dataclasses
from pathlib import Path
from typing import cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.errors import Interrupted, UsageError
from humboldt.languages.bliss import get
from humboldt.measures.bliss import Oracle, Persistent, Uniform
from humboldt.store import Result, State
from humboldt.suites import suites
from humboldt.suites._base import Request, Watcher
from humboldt.suites._bliss_scoring import Scorer
from humboldt.suites._bliss_training import StringByString, corpus_batch, corpus_losses, make_ensemble
from humboldt.suites.bliss import Bliss
from humboldt.training._steps import example_loss

SUITE = cast(Bliss, suites.get("bliss"))
TINY = {"order": "1", "factors": "1", "epochs": "3", "hidden_size": "4", "penalties": "none,l2", "strengths": "0.1"}


GRADIENT = ["lstm", "stack_lstm", "baby_ntm"]  # the MDLRNN is searched for: test__bliss_search.py


def plan(**options):
    return SUITE.plan(Request(**{"preset": "paper", **options}))


def one(task: str, model: str, **settings):
    (experiment,) = plan(tasks=[task], models=[model], settings=settings)
    return experiment


def test_the_paper_preset_is_the_paper():
    experiments = plan()
    assert {(e.run.task, e.run.model) for e in experiments} == {(t, m) for t in SUITE.tasks() for m in SUITE.models()}
    for experiment in experiments:
        if experiment.run.model not in GRADIENT:
            assert experiment.departures == ("another search than the paper's, described in docs/mdl.md",)
            assert len(experiment.members) == 1
            continue
        assert experiment.departures == ()
        cell = SUITE.cell(experiment.run)
        assert cell.sizes.train * cell.sizes.test == 1_000_000 and len(cell.corpus) == cell.sizes.train
        assert {member["seed"] for member in experiment.members} == {100, 101, 102}
        is_lstm = experiment.run.model == "lstm"
        assert len(experiment.members) == (21 if is_lstm else 3)
        assert cell.protocol.batch_size == (None if is_lstm else 1)
        assert cell.protocol.learning_rate == (1e-3 if is_lstm else 1e-2)


def test_what_the_paper_sweeps_are_experiments_that_compete_for_one_cell():
    counts = {}
    for experiment in plan(tasks=["an_bn"]):
        counts[experiment.run.model] = counts.get(experiment.run.model, 0) + 1
    # Four sizes each. A stack of 100 holds what one of 50 holds where no string is longer, and is not run again.
    assert counts == {"lstm": 4 * 3, "stack_lstm": 4 * 2, "baby_ntm": 4 * 2, "mdlrnn": 4}
    stacks = [e.run.setting["model"]["stack_size"] for e in plan(tasks=["an_bm_cn_plus_m"], models=["stack_lstm"])]
    assert set(stacks) == {50, 100}
    assert len(plan(tasks=["an_bn"], models=["lstm"], settings={"hidden_size": "2"})) == 4


def test_competing_runs_have_one_label_and_a_new_setting_has_another():
    (first, *_), (second, *_) = (
        plan(tasks=["an_bn"], models=["lstm"], settings=settings)
        for settings in ({"hidden_size": "2"}, {"hidden_size": "32", "penalties": "none"})
    )
    assert first.run.label == second.run.label == "paper"
    other = one("an_bn", "lstm", hidden_size="4", factors="1")
    assert other.run.label == "paper, hidden_size=4" and "hidden_size 4 instead of 2 or 32 or 128" in other.departures


def test_a_sweep_that_is_cut_short_is_a_departure():
    experiments = plan(tasks=["an_bn"], models=["lstm"], settings={"hidden_size": "32"})
    assert {e.departures for e in experiments} == {("lstm: hidden_size 32 alone, of 2, 32, 128",)}
    (result,) = [Result(experiments[0].members[0], State.FINISHED, {"met_0": 0.0}, 1.0, {"scores": []})]
    (table,) = SUITE.tables([(experiments[0].run, [result])])
    assert "lstm: hidden_size 32 alone, of 2, 32, 128" in table.notes[-1]


def test_quick_says_how_it_departs():
    for experiment in plan(preset="quick", models=GRADIENT):
        text = "; ".join(experiment.departures)
        assert "factors 1, 4 instead of" in text
        assert ("seeds 100, 101 instead of" in text) == (experiment.run.model != "lstm")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tasks": ["anbn"]}, "No task named 'anbn'. Did you mean 'an_bn'"),
        ({"models": ["lstn"]}, "No model named 'lstn'. Did you mean 'lstm'"),
        ({"settings": {"epoch": "1"}}, "No setting named 'epoch'. Did you mean 'epochs'"),
        ({"settings": {"factors": "2000"}}, "Factor 2000 at order 3 leaves no training string"),
        ({"settings": {"p": "1.2"}}, "p = 1.2 is not a prior"),
        ({"settings": {"epochs": "0"}}, "epochs is 0, but must be at least 1"),
        ({"settings": {"penalties": "l3"}}, "penalties is one of none, l1, l2"),
        ({"settings": {"strengths": "-1"}}, "positive strengths"),
        ({"seeds": 0}, "at least one seed"),
        ({"tasks": ["dyck_1"], "settings": {"p": "0.7"}}, "p = 0.7"),
    ],
)
def test_wrong_requests(options: dict, message: str):
    with pytest.raises(UsageError, match=message):
        plan(**options)


def test_more_members_are_more_members_of_the_same_run():
    few, many = (one("an_bn", "lstm", hidden_size="2", factors="1", penalties=p) for p in ("none", "none,l1"))
    assert few.run.key == many.run.key and set(map(str, few.members)) < set(map(str, many.members))


def test_distinct_strings_that_are_weighted_give_the_gradient_of_all_strings():
    cell = SUITE.cell(one("an_bn", "lstm", order="1", factors="1", hidden_size="2").run)
    model = cell.model.build(3, 3, num_symbols=3, key=jax.random.key(1))
    batch = corpus_batch(cell)
    assert len(set(cell.corpus.strings)) < len(cell.corpus) == 10
    assert batch.weight.sum() == sum(len(string) + 1 for string in cell.corpus.strings)

    def of_all(model):
        """Cross-entropy in nats per symbol, string by string."""
        total = jnp.zeros(())
        for string in cell.corpus.strings:
            ids = jnp.asarray([0, *cell.language.input_alphabet.encode(string), 0], jnp.int32)
            logs = jax.nn.log_softmax(model(ids[:-1], jnp.ones(len(ids) - 1, bool)))
            total -= jnp.take_along_axis(logs, ids[1:, None], 1).sum()
        return total / sum(len(string) + 1 for string in cell.corpus.strings)

    def of_distinct(model):
        logits = jax.vmap(lambda t, m: model(t, m))(jnp.asarray(batch.tokens), jnp.asarray(batch.mask))
        means, _ = jax.vmap(example_loss)(logits, jnp.asarray(batch.targets), jnp.asarray(batch.target_mask))
        return (batch.weight / batch.weight.sum() * means).sum()

    (expected, gradient), (found, other) = (jax.value_and_grad(f)(model) for f in (of_all, of_distinct))
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    for a, b in zip(jax.tree.leaves(gradient), jax.tree.leaves(other), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("order", ["corpus", "shuffled"])
@pytest.mark.parametrize("batch_size", [1, 3])
def test_an_epoch_string_by_string_is_the_corpus(order: str, batch_size: int):
    run = one("dyck_1", "baby_ntm", order="1", factors="1", epochs="3", string_order=order).run
    cell = SUITE.cell(run)
    stream = StringByString(cell, batch_size)
    strings = []
    for step in range(stream.steps_per_epoch):
        batch = stream(step)
        assert len(batch.tokens) == batch_size
        rows = [row for row in range(batch_size) if batch.weight[row] > 0]
        for row in rows:
            ids = batch.tokens[row, : int(batch.mask[row].sum())]
            assert batch.weight[row] == len(ids)
            strings.append("".join(cell.language.input_alphabet.decode(ids[1:])))
    assert sorted(strings) == sorted(cell.corpus.strings)
    assert (tuple(strings) == cell.corpus.strings) == (order == "corpus")
    np.testing.assert_array_equal(stream(0).tokens, stream(stream.steps_per_epoch).tokens)


@pytest.mark.parametrize("model", ["stack_lstm", "baby_ntm"])
def test_the_memory_networks_are_trained_as_their_authors_train_them(tmp_path: Path, model: str):
    """Against a plain loop: each string alone and unpadded, the mean loss of its symbols, Adam at 0.01, no clipping."""
    from humboldt.training import Watcher as TrainingWatcher

    experiment = plan(tasks=["an_bn"], models=[model], seeds=1, settings={"order": "1", "factors": "1", "epochs": "3"})[
        0
    ]
    cell = SUITE.cell(experiment.run)
    assert len({-(-len(string) // 8) for string in cell.corpus.strings}) > 1  # several buckets
    ensemble = make_ensemble(cell, experiment.members)
    trained = ensemble.train(tmp_path, TrainingWatcher())

    order = np.random.default_rng(cell.protocol.corpus_seed).permutation(len(cell.corpus))
    weights = jax.tree.map(lambda x: x[0], ensemble.fresh()[0].weights)
    mean = square = jax.tree.map(jnp.zeros_like, weights)

    @jax.jit
    def gradient_of(weights, ids):
        def loss(weights):
            logits = eqx.combine(weights, ensemble.static)(ids[:-1], jnp.ones(len(ids) - 1, bool))
            return -jnp.take_along_axis(jax.nn.log_softmax(logits), ids[1:, None], 1).mean()

        return jax.grad(loss)(weights)

    for step, place in enumerate([*order] * 3, 1):
        ids = jnp.asarray([0, *cell.language.input_alphabet.encode(cell.corpus.strings[place]), 0], jnp.int32)
        gradient = gradient_of(weights, ids)
        mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradient)
        square = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, square, gradient)
        weights = jax.tree.map(
            lambda w, m, v, t=step: w - 0.01 * (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8),
            *(weights, mean, square),
        )
    for found, expected in zip(jax.tree.leaves(trained.weights), jax.tree.leaves(weights), strict=True):
        np.testing.assert_allclose(found[0], expected, atol=2e-4)


def scorer(task: str = "an_bn", **settings) -> Scorer:
    cell = SUITE.cell(one(task, "lstm", hidden_size="2", factors="1", order="2", **settings).run)
    return Scorer(cell)


def test_the_oracle_meets_everything():
    for task in ("an_bn", "dyck_1"):
        found, _ = scorer(task).score(lambda longest, task=task: (Oracle(get(task)), 64))
        met = {key: value for key, value in found.items() if key.startswith("met")}
        assert met == {"met_0": 1, "met_per_string_0": 1, "met_0.005": 1, "met_per_string_0.005": 1}
        assert found["excess_bits"] == 0 and found["largest_n"] >= 8


def test_a_criterion_that_is_met_is_not_asked_of_the_others():
    shared = Scorer(
        SUITE.cell(one("an_bn", "lstm", hidden_size="2", factors="1").run)
    )  # n >= 26: b for ever is within 0.005
    first, _ = shared.score(lambda longest: (Persistent(3, symbol=2), 512))
    assert (first["met_0.005"], first["met_per_string_0.005"], first["met_0"]) == (1, 0, 0)
    second, detail = shared.score(lambda longest: (Uniform(3), 512))
    assert "met_0.005" not in second and second["met_0"] == 0
    assert "another member" in detail["not_evaluated"]
    everything = scorer(evaluate="all")
    for stepper in (Persistent(3, symbol=2), Uniform(3)):
        found, _ = everything.score(lambda longest, stepper=stepper: (stepper, 512))
        assert "met_0.005" in found


@pytest.mark.parametrize("model", GRADIENT)
def test_a_tiny_run_gives_results_and_a_table(tmp_path: Path, model: str):
    experiment = plan(tasks=["an_bn"], models=[model], seeds=2, settings=TINY)[0]
    told = []
    results = SUITE.execute(experiment, tmp_path, Watcher(progress=lambda *args: told.append(args)))
    assert len(results) == 4 and {phase for phase, *_ in told} == {"training", "evaluation"}
    for result in results:
        assert result.state is State.FINISHED and result.measures["met_0"] == 0
        assert result.detail["scores"][0]["first_failure"] is not None
    (table,) = SUITE.tables([(experiment.run, results)])
    (row,) = table.rows
    assert row[0] == "an_bn" and row[5] == "<1" and row[9:] == ("10", "4")
    assert "order 1 instead of 3" in table.notes[-1]


def test_a_run_can_be_stopped(tmp_path: Path):
    experiment = one("an_bn", "lstm", **TINY)
    with pytest.raises(Interrupted):
        SUITE.execute(experiment, tmp_path, Watcher(should_stop=lambda: True))
    assert list(tmp_path.iterdir())


def test_the_loss_on_the_corpus_is_the_training_loss(tmp_path: Path):
    from humboldt.training import Watcher as TrainingWatcher

    experiment = one("an_bn", "lstm", **{**TINY, "epochs": "1", "penalties": "none"})
    cell = SUITE.cell(experiment.run)
    ensemble = make_ensemble(cell, experiment.members)
    before = ensemble.fresh()[0].weights
    trained = ensemble.train(tmp_path, TrainingWatcher())
    losses = corpus_losses(cell, dataclasses.replace(trained, weights=before))
    np.testing.assert_allclose(losses, trained.loss[:, 0], rtol=1e-5)


def test_the_index_takes_the_best_member_of_each_size():
    experiments = plan(tasks=["an_bn"], models=["lstm"], settings={"hidden_size": "32", "penalties": "none"})
    met = {1: (0, 1), 2: (0, 0), 4: (1, 0), 10: (0, 0)}
    runs = []
    for e in experiments:
        results = [
            Result(
                member,
                State.FINISHED,
                {"met_0.005": float(value), "met_0": 0.0, "met_per_string_0": 0.0, "largest_n": 20 + i},
                1.0,
                {"scores": [{"measure": "M_det", "epsilon": 0.0, "first_failure": "aaabbb"}]},
            )
            for i, (member, value) in enumerate(zip(e.members, met[e.run.setting["factor"]], strict=False))
        ]
        runs.append((e.run, results))
    (table,) = SUITE.tables(runs)
    assert table.rows == (
        ("an_bn", "LSTM", "4", "10", "<1", "<1", "<1", "21, 21, 21, 21", "a^3 b^3", "1000, 500, 250, 100", "8"),
    )
    found = {(r.setting, r.measure): (r.value, r.statistic, r.members, r.published) for r in SUITE.records(runs)}
    assert found["paper epsilon=0.005", "b_index"] == ("4", "max", 8, "10")
    assert found["paper epsilon=0", "b_index"] == ("<1", "max", 8, "<1")
    assert found["paper epsilon=0.005 per_string", "b_index"] == ("<1", "max", 8, None)
    assert found["paper train_size=100", "largest_n"] == (21, "max", 2, None)


def data(task: str, split: str | None = None, count: int = 3, seed: int = 100, length: int | None = None, **settings):
    return list(SUITE.data(task, split=split, count=count, length=length, seed=seed, settings=settings))


def test_data():
    assert data("an_bn", p="0.3")[0] == (["#", "a", "a", "b", "b"], ["a", "a", "b", "b", "#"])
    strings = ["".join(target[:-1]) for _, target in data("dyck_1", "test", after="4")]
    assert strings == ["((()))", "(()())", "(())()"]
    for options, message in [
        ({"split": "test"}, "needs --after"),
        ({"split": "dev"}, "No split named 'dev'"),
        ({"after": "3"}, "a training corpus is sampled"),
        ({"p": "0"}, "p = 0 is not a prior"),
        ({"p": "x"}, "p must be a number"),
        ({"q": "1"}, "No setting named 'q'"),
        ({"length": 3}, "Leave --length out"),
        ({"format": "csv"}, "known formats"),
    ]:
        with pytest.raises(UsageError, match=message):
            data("an_bn", **options)
