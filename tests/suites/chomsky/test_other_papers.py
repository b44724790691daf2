"""Presets of later papers: their settings, their data, and which published numbers stand beside ours."""

from typing import Any

import numpy as np
import pytest

import humboldt
from humboldt import published
from humboldt.core.identity import Training
from humboldt.core.results import Result, Scores, State
from humboldt.errors import UsageError
from humboldt.languages import tasks
from humboldt.languages.chomsky.base import AbstractTransduction
from humboldt.measures.accuracy import scaled
from humboldt.report.tables import TableCell
from humboldt.suites import suites
from humboldt.suites.cells import cells_of
from humboldt.suites.chomsky.beside import beside_other_papers, comparable, printed_number
from humboldt.suites.chomsky.other_papers import NETWORKS, OTHER_PAPERS, PRINTED_ELSEWHERE, REGULAR
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


@pytest.mark.parametrize("preset", ["xlstm", "state_tracking", "slices"])
def test_a_preset_can_be_planned_without_naming_tasks_and_models(preset: str):
    experiments = humboldt.plan("chomsky", preset=preset, out="unused").experiments
    families = {experiment.training.model for experiment in experiments}
    assert families >= {network.model for (of, _), rows in NETWORKS.items() if of == preset for network in rows}
    assert all(name.startswith("family/") for name in families)


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


def trained_on(preset: str, task: str, model: str, **changes: Any) -> Training:
    (experiment,) = humboldt.plan(
        "chomsky", preset=preset, tasks=task, models=model, settings=changes, out="unused"
    ).experiments
    return experiment.training


@pytest.mark.parametrize(("preset", "row"), NETWORKS)
def test_every_network_of_a_paper_can_be_planned_and_has_its_numbers(preset: str, row: str):
    shown = set()
    for network in NETWORKS[preset, row]:
        for task in network.tasks or REGULAR:
            training = trained_on(preset, task, network.model, **network.settings)
            for statistic in PRINTED_ELSEWHERE[preset].statistics.values():
                found = printed_number(preset, training, statistic)
                assert found is not None and found[1] is network, (task, statistic)
                shown.add((task, statistic))
    assert len(shown) == 4


def test_a_number_is_shown_only_for_the_papers_network():
    arithmetic = "modular_arithmetic_simple"
    network, of_walker = NETWORKS["slices", "sLSTM"][0], {"layers": 2, "width": 128, "feed_forward": "none"}
    training = trained_on("slices", arithmetic, network.model, **network.settings)
    assert printed_number("slices", training, "mean") == (27.7, network)
    assert printed_number("slices", training, "median") is None
    other = trained_on("slices", arithmetic, network.model, **{**network.settings, "heads": 1})
    assert printed_number("slices", other, "mean") is None
    numbers = []
    for eigenvalues in (
        "0_1",
        "-1_1",
    ):  # a setting that a row does not name is not the paper's unless it is the default
        changes = {**of_walker, "embedding_spread": "1", "eigenvalues": eigenvalues}
        found = printed_number("slices", trained_on("slices", "parity_check", "family/deltanet", **changes), "mean")
        assert found is not None
        numbers.append(found[0])
    assert numbers == [57.8, 97.7]
    for changes in ({"norm": "layer"}, {"convolution": 0}):
        training = trained_on("slices", "parity_check", "family/deltanet", **of_walker, embedding_spread="1", **changes)
        assert printed_number("slices", training, "mean") is None


def test_departures_of_a_papers_network_stand_below_its_number():
    suite, network = suites.get("chomsky"), NETWORKS["slices", "RWKV-7"][0]
    (experiment,) = humboldt.plan(
        "chomsky", preset="slices", tasks="parity_check", models=network.model, settings=network.settings
    ).experiments
    results = tuple(Result(member, State.FINISHED, {"score": 0.5}, 1.0, {}, {}) for member in experiment.members)
    grouped = cells_of(suite, [Scores(experiment.training, experiment.evaluations[0], results)])
    ((heading, cells),) = grouped.items()
    (table,) = beside_other_papers(suite, heading, cells)  # pyright: ignore[reportArgumentType]
    (theirs,) = [row[-1] for row in table.rows if row[2] == "mean"]
    assert isinstance(theirs, TableCell) and theirs.value == 51.1
    for departure in network.departures:
        assert f"Departure, {network.model}: {departure}." in table.notes


def test_answers_of_arithmetic_are_read_at_a_mark_and_those_of_parity_at_the_last_symbol():
    for preset in OTHER_PAPERS:
        where = {task: trained_on(preset, task, "lstm").setting.get("answer_at", "mark") for task in REGULAR[:2]}
        assert where == {"parity_check": "last", "modular_arithmetic_simple": "mark"}
        assert trained_on(preset, "parity_check", "lstm").setting["gradient_clip"] is None
