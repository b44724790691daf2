"""The protocol of paper 001: what is trained on, what is scored, how it is shown."""

from pathlib import Path
from typing import cast

import pytest

from humboldt.errors import UsageError
from humboldt.store import Result, State
from humboldt.suites import suites
from humboldt.suites._base import Request, Watcher
from humboldt.suites._chomsky_training import evaluation_batches, make_ensemble
from humboldt.suites.chomsky import Chomsky, LengthGeneralisation

SUITE = cast(Chomsky, suites.get("chomsky"))
TINY = {
    "steps": "20",
    "batch_size": "4",
    "hidden_size": "8",
    "train_lengths": "1,6",
    "test_lengths": "7,12",
    "strings_per_length": "3",
}


def plan(**options):
    return SUITE.plan(Request(**{"preset": "paper", **options}))


def test_the_paper_preset_is_the_paper():
    experiments = plan()
    assert {(e.run.task, e.run.model) for e in experiments} >= {("even_pairs", "rnn"), ("cycle_navigation", "lstm")}
    for experiment in experiments:
        assert experiment.departures == ()
        assert len(experiment.members) == 30
        protocol = SUITE.cell(experiment.run).protocol
        assert (protocol.train_lengths, protocol.test_lengths) == ((1, 40), (41, 500))
        assert (protocol.steps, protocol.batch_size) == (1_000_000, 128)
        assert protocol.scored_lengths() == list(range(41, 501))


def test_the_first_scored_length_is_41_and_the_last_is_500():
    for count in (2, 24, 460, 1000):
        lengths = LengthGeneralisation(num_test_lengths=count).scored_lengths()
        assert (lengths[0], lengths[-1]) == (41, 500)
        assert len(lengths) == min(count, 460)


def test_quick_says_how_it_departs():
    (experiment,) = plan(preset="quick", tasks=["parity_check"], models=["rnn"])
    text = "; ".join(experiment.departures)
    for word in ("steps", "batch_size", "hidden_size", "learning rates", "seeds", "num_test_lengths"):
        assert word in text


def test_train_and_test_lengths_may_not_overlap():
    with pytest.raises(UsageError, match=r"test_lengths \(40, 500\) overlap train_lengths \(1, 40\)"):
        plan(settings={"test_lengths": "40,500"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tasks": ["paritycheck"]}, "No task named 'paritycheck'. Did you mean 'parity_check'"),
        ({"models": ["rn"]}, "No model named 'rn'. Did you mean 'rnn'"),
        ({"preset": "quik"}, "No preset named 'quik'. Did you mean 'quick'"),
        ({"settings": {"step": "1"}}, "No setting named 'step'. Did you mean 'steps'"),
        ({"seeds": 0}, "at least one seed"),
        ({"settings": {"steps": "0"}}, "at least 1"),
    ],
)
def test_wrong_requests(options: dict, message: str):
    with pytest.raises(UsageError, match=message):
        plan(**options)


def test_more_seeds_are_more_members_of_the_same_run():
    (few,), (many,) = (plan(tasks=["parity_check"], models=["rnn"], seeds=n) for n in (2, 3))
    assert few.run.key == many.run.key and set(map(str, few.members)) < set(map(str, many.members))


def test_training_batches_have_one_length_in_the_training_range():
    (experiment,) = plan(tasks=["parity_check"], models=["rnn"])
    ensemble = make_ensemble(SUITE.cell(experiment.run), experiment.members)
    times = [ensemble.stream(step).time for step in range(400)]
    assert min(times) == 2 and max(times) == 41 == ensemble.longest  # 1..40 symbols and one ∅
    assert all(ensemble.stream(step).mask.all() for step in range(20))


def test_evaluation_batches_cover_each_length_once():
    settings = {"strings_per_length": "100", "num_test_lengths": "24"}
    (experiment,) = plan(tasks=["modular_arithmetic_simple"], models=["rnn"], settings=settings)
    counts: dict[int, int] = {}
    for lengths, counted, batch in evaluation_batches(SUITE.cell(experiment.run)):
        assert len(lengths) == len(counted) == len(batch.tokens) and len(lengths) % 512 == 0
        for length in lengths[lengths > 0].tolist():
            counts[length] = counts.get(length, 0) + 1
    assert list(counts) == LengthGeneralisation(num_test_lengths=24).scored_lengths()
    assert set(counts.values()) == {100}


def test_a_tiny_run_gives_results_and_a_table(tmp_path: Path):
    (experiment,) = plan(tasks=["cycle_navigation"], models=["rnn"], seeds=1, settings=TINY)
    told = []
    results = SUITE.execute(experiment, tmp_path, Watcher(progress=lambda *args: told.append(args)))
    assert [result.member["learning_rate"] for result in results] == [1e-4, 3e-4, 5e-4]
    for result in results:
        assert result.state is State.FINISHED and 0 <= result.measures["score"] <= 1
        assert result.detail["accuracy_per_length"]["lengths"] == [7, 8, 9, 10, 11, 12]
        assert result.detail["training"]["steps"] == [20]
    assert {phase for phase, *_ in told} == {"training", "evaluation"}
    (table,) = SUITE.tables([(experiment.run, results)])
    assert table.columns == ("Level", "Task", "Chance", "RNN", "paper")
    assert table.rows[0][:3] == ("regular", "cycle_navigation", "20") and table.rows[0][-1] == "100.0"
    assert "7..12" in table.notes[0] and "steps 20 instead of 1,000,000" in table.notes[1]


def test_records_stand_beside_the_published_numbers():
    (experiment,) = plan(tasks=["parity_check"], models=["rnn"])
    results = [
        Result(m, State.FINISHED, {"score": s}, 1.0) for m, s in zip(experiment.members, (0.5, 1.0), strict=False)
    ]
    results.append(Result(experiment.members[2], State.DIVERGED, {}, 1.0))
    found = {r.statistic: (r.value, r.members, r.published) for r in SUITE.records([(experiment.run, results)])}
    assert found == {"max": (100.0, 2, 100.0), "mean": (75.0, 2, 95.5), "std": (25.0, 2, 14.2)}


def test_data():
    pairs = list(SUITE.data("parity_check", split=None, count=3, length=5, seed=1, settings={}))
    assert pairs == list(SUITE.data("parity_check", split=None, count=3, length=5, seed=1, settings={}))
    assert all(len(source) == 5 and target in (["a"], ["b"]) for source, target in pairs)
    with pytest.raises(UsageError, match="no splits"):
        list(SUITE.data("parity_check", split="train", count=1, length=5, seed=1, settings={}))
