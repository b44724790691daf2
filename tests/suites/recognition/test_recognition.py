"""The recognition suite: batches, scores by length and distance, and the shortcut audit."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import humboldt
from humboldt.core.results import State
from humboldt.errors import UsageError
from humboldt.outside.predictor import NextSymbols
from humboldt.suites import plans, resolving, suites
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


@pytest.mark.parametrize(("heads", "outputs"), [("next_symbol", 5), ("next_set", 5), ("all", 8)])
def test_further_heads_have_outputs_of_their_own(heads: str, outputs: int):
    (experiment,) = humboldt.plan(
        "recognition", tasks=["parity"], models=["family/lstm"], settings={**SMALL, "loss_heads": heads}
    ).experiments
    assert experiment.training.setting["loss_heads"] == heads
    job = suites.get("recognition").job(resolving.resolved(experiment), experiment.members)
    assert job.recipe.heads is not None and job.recipe.heads.outputs == outputs


def test_models_are_trained_with_further_heads(tmp_path: Path):
    settings = {**SMALL, "epochs": 2, "loss_heads": "all", "hidden_size": 4}
    study = humboldt.run("recognition", tasks=["parity"], models=["family/lstm"], settings=settings, out=tmp_path)
    (scores,) = study.scores()
    assert scores.results[0].state is State.FINISHED and 0 <= scores.results[0].measures["test"] <= 1
    plain = humboldt.plan("recognition", tasks=["parity"], models=["family/lstm"], settings=SMALL).experiments[0]
    assert "loss_heads" not in plain.training.setting  # earlier results keep their identity


def test_targets_have_the_sets_of_next_symbols():
    (experiment,) = plans.plan(
        suites.get("recognition"),
        Request(("dyck_2_3",), ("family/lstm",), "quick", 1, {**SMALL, "loss_heads": "next_set"}),
    )
    assert experiment.resolved is not None
    recognition = Recognition(experiment.resolved.task, experiment.resolved.protocol)
    seen = 0
    for tokens, mask, targets, asked in zip(*_arrays(recognition.batch(0)), strict=True):
        symbols = recognition.language.input_alphabet.decode(tokens[mask][:-1])
        is_inside = recognition.language.contains(symbols)
        assert targets[asked].tolist() == [int(is_inside)]
        prefixes = [symbols[:end] for end in range(1, len(symbols) + 1)]
        sets = [recognition.language.bits(recognition.language.valid_next(prefix)) for prefix in prefixes]
        assert targets[: len(symbols)].tolist() == (sets if is_inside else [0] * len(symbols))
        seen += is_inside * len(symbols)
    assert seen


def _arrays(batch: Any) -> tuple[Any, ...]:
    return batch.tokens, batch.mask, batch.targets, batch.target_mask


def test_heads_need_a_network_that_answers_at_every_symbol():
    with pytest.raises(UsageError, match=r"loss_heads=all: .* does not answer at every symbol.*family/lstm"):
        humboldt.plan("recognition", tasks=["parity"], models=["lstm"], settings={"loss_heads": "all"})
