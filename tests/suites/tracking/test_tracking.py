"""The tracking suite: batches, scores, tables, and the settings of four papers."""

from typing import Any

import numpy as np
import pytest

import humboldt
from humboldt import published
from humboldt.core.results import Scores
from humboldt.errors import UsageError
from humboldt.languages import tasks
from humboldt.suites import plans, suites
from humboldt.suites.cells import Cell, SettingGroup
from humboldt.suites.departures import departures
from humboldt.suites.experiments import Request
from humboldt.suites.tracking import answer, tables
from humboldt.suites.tracking.problem import States
from humboldt.suites.tracking.protocol import PAPERS
from humboldt.suites.tracking.scoring import longest_kept

SMALL = {"shortest": 2, "longest": (6,), "batch_size": 5, "test_lengths": (7, 9), "strings_per_length": 3}


def problem(task: str = "s3", **changes: Any) -> States:
    settings = {**SMALL, **changes}
    (experiment,) = plans.plan(suites.get("tracking"), Request((task,), ("rnn",), "quick", 1, settings))
    assert experiment.resolved is not None
    return States(experiment.resolved.task, experiment.resolved.protocol)


def answers_agree(states: States, batch: Any) -> None:
    """Every row has the oracle's answers at its answer places, and nothing else is asked."""
    for tokens, mask, targets, asked in zip(batch.tokens, batch.mask, batch.targets, batch.target_mask, strict=True):
        symbols = states.task.input_alphabet.decode(tokens[mask])
        assert states.task.output_alphabet.decode(targets[asked]) == states.task.oracle(symbols)
        assert np.flatnonzero(asked).tolist() == states.task.answer_places(len(symbols)).tolist()


@pytest.mark.parametrize("options", [{}, {"supervision": "last"}, {"tokens_per_step": 3}], ids=str)
@pytest.mark.parametrize("corpus", [0, 12])
def test_batches_have_the_answers_of_the_oracle(options: dict[str, Any], corpus: int):
    states = problem(corpus=corpus, inputs="all", **options)
    for step in range(6):
        batch = states.batch(step)
        answers_agree(states, batch)
        assert len(batch.tokens) == 5 and batch.time <= states.longest
    for _, count, batch in states.test_batches():
        answers_agree(states, batch.take(slice(0, count)))


def test_a_corpus_is_read_whole_in_every_epoch_and_in_another_order():
    states = problem(corpus=12)
    epochs = [np.concatenate([states.batch(step).tokens for step in range(first, first + 3)]) for first in (0, 3)]
    weights = np.concatenate([states.batch(step).weight for step in range(3)])
    assert weights.sum() == 12
    rows = [sorted(map(tuple, epoch[weights > 0].tolist())) for epoch in epochs]
    assert rows[0] == rows[1] and epochs[0].tolist() != epochs[1].tolist()


def test_the_first_and_last_scored_lengths():
    assert problem(num_test_lengths=2).protocol.scored_lengths() == [7, 9]
    assert problem(test_at_longest=True).protocol.scored_lengths() == [6]
    with pytest.raises(UsageError, match="shortest=7 is more than longest=6"):
        problem(shortest=7)
    with pytest.raises(UsageError, match="is not a range"):
        problem(test_lengths=(9, 7))


def test_a_perfect_model_a_parity_model_and_one_that_forgets():
    task: Any = problem().task

    def until_eight(inputs: list[list[str]]) -> list[list[str]]:
        return [[*task.oracle(symbols)[:8], *["123"] * max(0, len(symbols) - 8)] for symbols in inputs]

    def scored(function: Any) -> dict[str, float]:
        settings = {**SMALL, "num_test_lengths": 3, "strings_per_length": 50}
        del settings["batch_size"]
        card = humboldt.score("tracking", function, tasks="s3", settings=settings, preset="quick")
        return dict(card.scored[0].scores.results[0].measures)

    perfect = scored(lambda inputs: [task.oracle(symbols) for symbols in inputs])
    assert perfect == {"symbols": 1.0, "strings": 1.0, "longest": 9.0}
    forgets = scored(until_eight)
    assert forgets["longest"] == 9.0 and 0.9 < forgets["symbols"] < 1 and forgets["strings"] < 0.9
    constant = scored(lambda inputs: [["123"] * len(symbols) for symbols in inputs])
    assert constant["longest"] == 0.0 and constant["symbols"] < 0.5 and constant["strings"] == 0.0
    assert longest_kept([7, 8, 9], [0.9, 0.89, 1.0]) == 7


@pytest.mark.parametrize("preset", PAPERS)
def test_the_presets_of_papers_have_no_departures_but_the_models(preset: str):
    suite = suites.get("tracking")
    experiments = plans.plan(suite, Request(preset=preset))
    found = departures(suite, [(e.training, one, e.members) for e in experiments for one in e.evaluations])
    assert {str(each) for each in found if each.name != "num_layers"} == {"not among the models of the paper"}


def test_published_numbers_are_beside_the_cells_of_their_setting():
    rows = published.rows("tracking")
    assert len(rows) == 18 and {row["task"] for row in rows} == {"a5", "s5"}
    counts = {(row["task"], int(row["generators"])) for row in rows}
    planned = plans.plan(suites.get("tracking"), Request(models=("rnn",), tasks=("a5", "s5"), preset="paper"))
    assert {(e.training.task, e.training.setting["task"]["generators"]) for e in planned} == counts


def numbers_beside(preset: str, model: str = "gated_deltaproduct", **settings: Any) -> list[float | None]:
    """The printed numbers beside a family on A5 and S5, as planned by a preset."""
    request = Request(("a5", "s5"), (f"family/{model}",), preset, settings=settings)
    cells = []
    for each in plans.plan(suites.get("tracking"), request):
        scores = tuple(Scores(each.training, one, ()) for one in each.evaluations)
        group, place = SettingGroup(preset, ()), tables.place(each.training, each.evaluations[0])
        where = {"task": each.training.task, "model": each.training.model, "place": place}
        cell = Cell(suite="tracking", heading=group, **where, scores=scores)
        cells.append(tables.published_for(cell))
    return cells


def test_a_printed_number_stands_beside_the_network_and_the_strings_of_its_row_alone():
    assert numbers_beside("paper") == [97.9, 92.5, 91.8, 60.5, 88.7, 57.4, 1.23]
    assert numbers_beside("paper", layers=2) == [None, None, None, 68.4, 84.7, 62.2, None]
    assert numbers_beside("paper", "pd_ssm") == [100.0] * 6 + [1.07]
    assert set(numbers_beside("paper", "pd_ssm", layers=2)) == set(numbers_beside("paper", "gla")) == {None}
    assert set(numbers_beside("paper", householders=2)) == {None}
    assert set(numbers_beside("paper", supervision="every")) == {None}
    assert set(numbers_beside("paper", test_lengths=(41, 256))) == {None}
    assert set(numbers_beside("paper", test_at_longest=True)) == {None}
    assert set(numbers_beside("quick", layers=1, width=128, householders=4, generators=6)) == {None}


@pytest.mark.parametrize(
    ("name", "kind", "options"),
    [
        ("z2", "abelian", {}),
        ("s3", "solvable", {"inputs": "generators"}),
        ("s4", "solvable", {"inputs": "swaps", "supervision": "last"}),
        ("a5", "not solvable", {"inputs": "generators"}),
    ],
)
def test_the_floor_is_what_the_most_probable_state_gives(name: str, kind: str, options: dict[str, Any]):
    task: Any = tasks.get(f"tracking/{name}")(**options)  # pyright: ignore[reportCallIssue]
    assert answer.group_of(task) == kind
    shares = []
    for length in (3, 6):
        states = np.array(task.trace(task.columns(np.random.default_rng(0), 20_000, length)))
        counted = [np.bincount(column).max() / len(column) for column in states.T]
        shares.append(counted[-1] if task.supervision == "last" else np.mean(counted))
    assert answer.floor_of(task, [3, 6]) == pytest.approx(np.mean(shares), abs=0.02)


@pytest.mark.parametrize("lengths", [(40, 256), (41, 256)])
def test_the_printed_columns_are_those_of_the_printed_lengths(lengths: tuple[int, int]):
    settings = {"generators": 2, "test_lengths": lengths, "num_test_lengths": 2, "strings_per_length": 1}
    identity: Any = lambda inputs: [["12345"] for _ in inputs]  # noqa: E731
    card = str(humboldt.score("tracking", identity, tasks="a5", settings=settings))
    assert ("PD-SSM, 1 (paper)" in card) == ("100.0" in card) == (lengths == (40, 256))
