"""Training batches for other people's loops: the arrays that our own models see."""

from typing import Any

import numpy as np
import pytest

import humboldt
from humboldt.errors import UsageError
from humboldt.suites import plans, resolving, suites
from humboldt.suites.experiments import Request

CASES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "chomsky": ("reverse_string", "rnn", {"batch_size": 4}),
    "bliss": ("an_bn", "lstm", {"factors": (1,), "order": 1}),
    "syntax": ("adj_n_np", "lstm", {"terminals": (2,), "train": 20, "batch_size": 8}),
    "pcfg_set": ("task_accuracy", "conv_s2s", {"size": 600, "letters": 60, "deepest": 2, "buckets": 1}),
    "bias": ("hierarchical_or_linear", "cnn_s2s", {}),
}


@pytest.mark.parametrize("suite", CASES)
def test_the_stream_is_that_of_our_own_models(suite: str):
    task, model, settings = CASES[suite]
    ours: Any = suites.get(suite)
    experiment = plans.plan(ours, Request((task,), (model,), "paper", 1, settings))[0]
    parts = resolving.resolved(experiment)
    problem = ours.job(parts, experiment.members[:1]).problem
    found = humboldt.batches(suite, task, model=model, settings=settings, start=2, count=3)
    assert len(list(found)) == 3 and len(found.batch(2).tokens) == found.batch_size
    for number, batch in enumerate(found, 2):
        for name, array in vars(problem.batch(number)).items():
            np.testing.assert_array_equal(getattr(batch, name), array)
    assert found.symbols.inputs == parts.task.input_alphabet.symbols


def test_fixed_training_sets_and_streams_without_one():
    corpus = humboldt.batches("bliss", "an_bn", settings={"factors": 1, "order": 1}).training_set()
    assert corpus.weight.sum() > 0
    strings = humboldt.batches("syntax", "adj_n_np", settings={"terminals": 2, "train": 20}).training_set()
    assert len(strings.tokens) == 40
    with pytest.raises(UsageError, match="no fixed training set"):
        humboldt.batches("chomsky", "parity_check").training_set()


@pytest.mark.parametrize(
    ("suite", "task", "options", "text"),
    [
        ("syntax", "adj_n_np", {}, "settings={'terminals': 2}"),
        ("chomsky", "parity", {}, "Did you mean 'parity_check'"),
        ("chomsky", "parity_check", {"settings": {"batchsize": 3}}, "Did you mean 'batch_size'"),
        ("chomsky", "parity_check", {"preset": "fast"}, "No preset named 'fast'"),
    ],
)
def test_wrong_requests(suite: str, task: str, options: dict[str, Any], text: str):
    with pytest.raises(UsageError) as error:
        humboldt.batches(suite, task, **options)
    assert text in str(error.value)
