"""Presets of later papers: their settings, their data, and which published numbers stand beside ours."""

import dataclasses

import numpy as np
import pytest

import humboldt
from humboldt import published
from humboldt.errors import UsageError
from humboldt.languages import tasks
from humboldt.languages.chomsky.base import AbstractTransduction
from humboldt.measures.accuracy import scaled
from humboldt.suites.chomsky.beside import comparable, printed_number
from humboldt.suites.chomsky.other_papers import NETWORKS, OTHER_PAPERS
from humboldt.suites.chomsky.problem import Transduction
from humboldt.suites.chomsky.protocol import LengthGeneralisation


def planned(preset: str, task: str = "parity_check", **options):
    return humboldt.plan("chomsky", preset=preset, tasks=task, models="lstm", out="unused", **options).experiments


@pytest.mark.parametrize("preset", OTHER_PAPERS)
def test_a_shared_length_must_be_declared(preset: str):
    (experiment,) = planned(preset)
    assert experiment.resolved is not None
    protocol = experiment.resolved.protocol
    assert protocol.scored_lengths()[0] == 40 == protocol.train_lengths[1]
    with pytest.raises(UsageError, match=r"test_lengths \(40, 256\) overlap"):
        LengthGeneralisation(test_lengths=(40, 256))
    with pytest.raises(UsageError, match="overlap"):
        LengthGeneralisation(test_lengths=(39, 256), shared_length=True)


@pytest.mark.parametrize("name", ["reverse_string", "duplicate_string", "odds_first", "missing_duplicate"])
def test_alphabets_enter_the_identity_only_where_they_differ(name: str):
    (plain,), (wide,) = planned("paper", name), planned("xlstm", name)
    assert "num_symbols" not in plain.training.setting.get("task", {})
    count = wide.training.setting["task"]["num_symbols"]
    assert wide.resolved is not None
    task = wide.resolved.task
    pairs = task.sample(np.random.default_rng(0), 200, 12)
    used = {symbol for row in pairs.targets for symbol in task.output_alphabet.decode(row)}
    assert len(used) == count and task.chance == 1 / count
    for source, target in list(pairs.symbols(task.input_alphabet, task.output_alphabet))[:20]:
        assert task.oracle(source) == target
    assert tasks.get(f"chomsky/{name}")().chance == 0.5  # the class is as before


def test_batches_of_mixed_lengths_with_the_answer_at_the_last_symbol():
    protocol = LengthGeneralisation(train_lengths=(3, 40), mixed_lengths=True, answer_at="last", batch_size=64)
    task = tasks.get("chomsky/parity_check")()
    assert isinstance(task, AbstractTransduction)
    batch = Transduction(task, protocol).batch(0)
    lengths = batch.mask.sum(1)
    assert len(set(lengths.tolist())) > 10 and lengths.min() >= 3 and lengths.max() <= 40
    for row, length in enumerate(lengths):
        assert np.flatnonzero(batch.target_mask[row]).tolist() == [length - 1]
        symbols = task.input_alphabet.decode(batch.tokens[row, :length])
        assert task.oracle(symbols) == task.output_alphabet.decode(batch.targets[row, length - 1 : length])


def test_a_plan_refuses_several_answers_at_the_last_symbol():
    with pytest.raises(UsageError, match="room for one answer"):
        planned("slices", "reverse_string")


def test_scaled_accuracy():
    assert scaled(1.0, 0.2) == 1.0 and scaled(0.2, 0.2) == 0.0 and scaled(0.0, 0.5) == -1.0
    with pytest.raises(ValueError, match="chance level"):
        scaled(0.5, 1.0)


def test_doubtful_and_second_hand_rows_are_never_compared():
    rows = published.rows("modern")
    assert len(rows) == 650
    assert sum(row["second_hand"] == "yes" for row in rows) == 120 + 17
    assert sum(row["table"] == "Figure 12" and bool(row["doubt"]) for row in rows) == 110
    assert not comparable("xlstm")
    assert all(not row["doubt"] for name in OTHER_PAPERS for row in comparable(name))
    assert not any("stored copy" in row["source"] for row in rows)


def test_a_number_is_shown_only_for_the_papers_network():
    (experiment,) = planned("slices", "modular_arithmetic_simple")
    network = NETWORKS["slices", "sLSTM"]
    training = dataclasses.replace(
        experiment.training, model=network.model, setting={**experiment.training.setting, "model": network.settings}
    )
    assert printed_number("slices", training, "mean") == 27.7
    assert printed_number("slices", training, "median") is None
    assert printed_number("slices", experiment.training, "mean") is None
    other = {**training.setting, "model": {**network.settings, "heads": 1}}
    assert printed_number("slices", dataclasses.replace(training, setting=other), "mean") is None
