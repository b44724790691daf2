"""A corpus as a learner reads it."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.core.events import Silent
from humboldt.languages.bliss import get
from humboldt.models import models
from humboldt.storage.checkpoints import Checkpoints
from humboldt.suites import plans, resolving, suites
from humboldt.suites.bliss.problem import NextSymbol
from humboldt.suites.bliss.protocol import Induction
from humboldt.suites.experiments import Experiment, Request
from humboldt.training.engines.jax import make_ensemble
from humboldt.training.ensemble.steps import example_loss

SUITE = suites.get("bliss")


def problem(task: str = "an_bn", **settings) -> NextSymbol:
    return NextSymbol(get(task), Induction(**{"order": 1, "factors": (1,), **settings}))


def test_distinct_strings_that_are_weighted_give_the_gradient_of_all_strings():
    corpus = problem()
    model = models.get("torch_lstm")(hidden_size=2).build(3, 3, num_symbols=3, key=jax.random.key(1))
    batch = corpus.training_set()
    strings = corpus.corpus.strings
    assert len(set(strings)) < len(strings) == 10
    assert batch.weight.sum() == sum(len(string) + 1 for string in strings)

    @eqx.filter_jit
    @eqx.filter_value_and_grad
    def of_string(model, ids):
        logs = jax.nn.log_softmax(model(ids[:-1], jnp.ones(len(ids) - 1, bool)))
        return -jnp.take_along_axis(logs, ids[1:, None], 1).sum()

    @eqx.filter_jit
    @eqx.filter_value_and_grad
    def of_distinct(model):
        logits = jax.vmap(lambda t, m: model(t, m))(jnp.asarray(batch.tokens), jnp.asarray(batch.mask))
        loss = jax.vmap(example_loss, (0, 0, 0, None))
        means, _ = loss(logits, jnp.asarray(batch.targets), jnp.asarray(batch.target_mask), "mean")
        return (batch.weight / batch.weight.sum() * means).sum()

    encoded = [jnp.asarray([0, *corpus.language.input_alphabet.encode(s), 0], jnp.int32) for s in strings]
    one_by_one = [of_string(model, ids) for ids in encoded]  # repetitions and all
    count = sum(len(string) + 1 for string in strings)
    found, gradient = of_distinct(model)
    np.testing.assert_allclose(found, sum(float(value) for value, _ in one_by_one) / count, rtol=1e-5)
    expected = jax.tree.map(lambda *parts: sum(parts) / count, *(of for _, of in one_by_one))
    for a, b in zip(jax.tree.leaves(expected), jax.tree.leaves(gradient), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("order", ["corpus", "shuffled"])
@pytest.mark.parametrize("batch_size", [1, 3])
def test_an_epoch_string_by_string_is_the_corpus(order: str, batch_size: int):
    corpus = problem("dyck_1", string_order=order, batch_size=batch_size)
    strings = []
    for step in range(corpus.steps_per_epoch):
        batch = corpus.batch(step)
        assert len(batch.tokens) == batch_size
        for row in np.flatnonzero(batch.weight > 0):
            ids = batch.tokens[row, : int(batch.mask[row].sum())]
            assert batch.weight[row] == len(ids)
            strings.append("".join(corpus.language.input_alphabet.decode(ids[1:])))
    assert sorted(strings) == sorted(corpus.corpus.strings)
    assert (tuple(strings) == corpus.corpus.strings) == (order == "corpus")
    np.testing.assert_array_equal(corpus.batch(0).tokens, corpus.batch(corpus.steps_per_epoch).tokens)


def test_the_whole_corpus_is_one_batch():
    corpus = problem()
    assert corpus.steps_per_epoch == 1 and corpus.batch(0) is corpus.batch(7) is corpus.training_set()
    assert corpus.buckets == (corpus.longest,) and corpus.longest % 8 == 0


def test_the_loss_on_the_corpus_is_the_mean_over_its_symbols():
    corpus = problem()
    batch = corpus.training_set()
    per_symbol = np.arange(len(batch.tokens), dtype=float)
    nats = (per_symbol * batch.mask.sum(1))[None]
    strings = corpus.corpus.strings
    rows = {string: row for row, string in enumerate(corpus.corpus.counts)}
    expected = sum(rows[s] * (len(s) + 1) for s in strings) / sum(len(s) + 1 for s in strings)
    np.testing.assert_allclose(corpus.corpus_losses(nats), [expected])


def first(model: str, **settings) -> Experiment:
    chosen = {"order": "1", "factors": "1", "epochs": "2", **settings}
    return plans.plan(SUITE, Request(("an_bn",), (model,), "paper", 1, chosen))[0]


@pytest.mark.parametrize("model", ["stack_lstm", "baby_ntm"])
def test_the_memory_networks_are_trained_as_their_authors_train_them(tmp_path, model: str):
    """Against a plain loop: each string alone and unpadded, the mean loss of its symbols, Adam at 0.01, no clipping."""
    experiment = first(model, corpus_seed="117")  # three lengths: the plain loop is compiled for each
    parts = resolving.resolved(experiment)
    job = SUITE.job(parts, experiment.members)
    assert isinstance(job.problem, NextSymbol)
    strings, encode = job.problem.corpus.strings, job.problem.language.input_alphabet.encode
    assert len({-(-len(string) // 8) for string in strings}) > 1  # several buckets
    ensemble = make_ensemble(job)
    trained = ensemble.train(Checkpoints(tmp_path), Silent())

    order = np.random.default_rng(parts.protocol.corpus_seed).permutation(len(strings))
    weights = jax.tree.map(lambda x: x[0], ensemble.fresh().learners.weights)
    mean = square = jax.tree.map(jnp.zeros_like, weights)

    @jax.jit
    def gradient_of(weights, ids):
        def loss(weights):
            logits = eqx.combine(weights, ensemble.static)(ids[:-1], jnp.ones(len(ids) - 1, bool))
            return -jnp.take_along_axis(jax.nn.log_softmax(logits), ids[1:, None], 1).mean()

        return jax.grad(loss)(weights)

    @jax.jit
    def adam(weights, mean, square, gradient, step):
        mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradient)
        square = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, square, gradient)
        weights = jax.tree.map(
            lambda w, m, v: w - 0.01 * (m / (1 - 0.9**step)) / (jnp.sqrt(v / (1 - 0.999**step)) + 1e-8),
            *(weights, mean, square),
        )
        return weights, mean, square

    for step, place in enumerate([*order] * 2, 1):
        gradient = gradient_of(weights, jnp.asarray([0, *encode(strings[place]), 0], jnp.int32))
        weights, mean, square = adam(weights, mean, square, gradient, float(step))
    for found, expected in zip(jax.tree.leaves(trained.weights), jax.tree.leaves(weights), strict=True):
        np.testing.assert_allclose(found[0], expected, atol=2e-4)
