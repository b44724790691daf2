"""The recognition suite: batches, scores by length and distance, and the shortcut audit."""

from typing import Any

import numpy as np
import pytest

import humboldt
from humboldt.errors import UsageError
from humboldt.outside.predictor import NextSymbols
from humboldt.suites import plans, suites
from humboldt.suites.experiments import Request
from humboldt.suites.recognition.problem import Recognition
from humboldt.suites.recognition.protocol import SCORED, TASKS

SMALL = {"train": 60, "validation": 20, "test": 40, "longest": 10, "longest_validation": 12, "longest_test": 20}


def problem(task: str) -> Recognition:
    (experiment,) = plans.plan(suites.get("recognition"), Request((task,), ("lstm",), "quick", 1, SMALL))
    assert experiment.resolved is not None
    return Recognition(experiment.resolved.task, experiment.resolved.protocol)


@pytest.mark.parametrize("task", ["dyck_2_3", "majority"])
def test_batches_have_the_answers_of_the_oracle_at_the_end_mark(task: str):
    recognition = problem(task)
    batches = [recognition.batch(step) for step in range(4)]
    batches += [batch for name in SCORED for _, batch in recognition.test_batches(recognition.split(name))]
    for batch in batches:
        assert (batch.target_mask.sum(1) == 1).all() and (
            batch.tokens[batch.target_mask] == recognition.num_symbols
        ).all()
        for tokens, mask, targets, asked in zip(
            batch.tokens, batch.mask, batch.targets, batch.target_mask, strict=True
        ):
            symbols = recognition.language.input_alphabet.decode(tokens[mask][:-1])
            answer = recognition.language.output_alphabet.decode(targets[asked])
            assert recognition.language.oracle(symbols) == answer
    assert recognition.framed([]).tokens.tolist() == [[recognition.num_symbols]]  # the empty string has an answer


def test_splits_have_their_sizes_and_lengths_and_scored_ones_are_in_order():
    recognition = problem("majority")
    for name, (count, longest) in {"train": (60, 10), "validation_long": (20, 12), "test": (40, 20)}.items():
        split = recognition.split(name)
        assert len(split) == count and 0.5 * longest < split.lengths.max() <= longest
        assert name == "train" or (np.diff(split.lengths) >= 0).all()


def scored(model: Any, task: str) -> Any:
    settings = {key: value for key, value in SMALL.items() if key != "epochs"}
    return humboldt.score("recognition", model, tasks=task, settings=settings, preset="quick")


def test_a_perfect_model_and_one_that_says_yes():
    language: Any = problem("parity").language
    perfect = scored(lambda inputs: [language.oracle(symbols) for symbols in inputs], "parity")
    result = perfect.scored[0].scores.results[0]
    assert result.measures == dict.fromkeys(SCORED, 1.0)
    assert set(result.detail["shortcuts"]) == set(SCORED)
    assert result.detail["shortcuts"]["test"]["bag"] < 0.9  # counts alone do not give a parity
    gullible = scored(lambda inputs: ["yes"] * len(inputs), "parity").scored[0].scores.results[0]
    assert 0.25 < gullible.measures["test"] < 0.75
    assert set(gullible.detail["accuracy_per_distance"]["accuracy"]) == {0.0}  # wrong about all strings outside
    assert gullible.detail["accuracy_per_distance"]["values"] == [1]  # one edit gives any parity


def test_the_audit_solves_what_needs_no_structure():
    audit = problem("first").shortcuts()
    assert audit["test"]["first_last"] == 1.0


def test_a_next_symbol_model_is_refused_with_a_sentence():
    model = NextSymbols(lambda strings: [np.full((len(string), 3), 1 / 3) for string in strings])
    with pytest.raises(UsageError, match="are not pairs"):
        scored(model, "parity")


@pytest.mark.parametrize("task", TASKS)
def test_the_audit_runs_on_every_language(task: str):
    audit = problem(task).shortcuts()
    assert set(audit) == set(SCORED) and all(0 <= value <= 1 for by in audit.values() for value in by.values())
