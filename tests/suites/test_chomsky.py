"""The protocol of Delétang et al. (2023): what is trained on, what is scored, how it is shown."""

from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from humboldt.errors import UsageError
from humboldt.store import Result, State
from humboldt.suites import suites
from humboldt.suites._base import Request, Watcher
from humboldt.suites._chomsky_protocol import LengthGeneralisation
from humboldt.suites._chomsky_training import evaluation_batches, make_ensemble
from humboldt.suites.chomsky import Chomsky

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


def one(task: str, model: str, **options):
    (experiment,) = plan(tasks=[task], models=[model], **options)
    return experiment


def test_the_paper_preset_is_the_paper():
    experiments = plan()
    cells = {(e.run.task, e.run.model) for e in experiments}
    assert len(cells) == 15 * 9 and ("bucket_sort", "transformer") in cells
    for experiment in experiments:
        assert experiment.departures == ()
        assert len(experiment.members) == 30
        protocol = SUITE.cell(experiment.run).protocol
        assert (protocol.train_lengths, protocol.test_lengths) == ((1, 40), (41, 500))
        assert (protocol.steps, protocol.batch_size) == (
            1_000_000,
            16 if experiment.run.model == "ndstack_rnn" else 128,
        )
        assert protocol.scored_lengths() == list(range(41, 501))


def test_what_the_paper_sweeps_are_experiments_that_compete_for_one_cell():
    counts = {}
    for experiment in plan(tasks=["parity_check"]):
        counts[experiment.run.model] = counts.get(experiment.run.model, 0) + 1
    assert counts == {
        **{"rnn": 1, "stack_rnn": 1, "tape_rnn": 6, "transformer_encoder": 5, "lstm": 1},
        **{"cnn": 4, "stack_lstm": 1, "ndstack_rnn": 4, "transformer": 5},
    }
    assert len(plan(tasks=["parity_check"], models=["tape_rnn"], settings={"num_tapes": "4"})) == 3


def test_the_table_takes_the_best_of_a_sweep_and_says_which():
    experiments = plan(tasks=["duplicate_string"], models=["tape_rnn"], settings={"num_tapes": "1"})
    runs = [
        (e.run, [Result(e.members[0], State.FINISHED, {"score": score}, 1.0)])
        for e, score in zip(experiments, (0.5, 0.95, 0.7), strict=True)
    ]
    table, means = SUITE.tables(runs)
    assert table.rows[0][3:5] == ("95.0*", "100.0")
    assert means.rows[0][3:5] == ("95.0", "90.0 ± 16.3")  # one member has no deviation
    assert "duplicate_string Tape-RNN: computation_tokens=1" in table.notes[1]
    (best, *_) = SUITE.records(runs)
    assert (best.statistic, best.value, best.members, best.published) == ("max", 95.0, 3, 100.0)


def test_autoregressive_runs_have_a_table_of_their_own():
    experiment = one("reverse_string", "stack_rnn", settings={"autoregressive": "true"})
    assert "autoregressive" in "".join(experiment.departures)
    table, means = SUITE.tables(
        [(experiment.run, [Result(experiment.members[0], State.FINISHED, {"score": 1.0}, 1.0)])]
    )
    assert "autoregressive" in table.title and "Table B4" in table.notes[0] and "Table B5" in means.notes[0]


def test_the_table_of_scaling():
    experiment = one("even_pairs", "transformer_encoder", settings={"positions": "relative", "steps": "100000"})
    (table,) = SUITE.tables([(experiment.run, [Result(experiment.members[0], State.FINISHED, {"score": 0.9}, 1.0)])])
    assert table.columns[1:] == ("5 layers, 100,000 steps", "paper") and table.rows == (
        ("even_pairs", "90.0*", "90.2"),
    )


def test_a_task_setting_follows_the_released_code():
    experiment = one("odds_first", "rnn", settings={"order": "code"})
    assert "order code instead of paper" in experiment.departures
    assert experiment.run.key != one("odds_first", "rnn").run.key
    with pytest.raises(UsageError, match="order='other' is not possible"):
        one("odds_first", "rnn", settings={"order": "other"})


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


def test_few_strings_are_not_filled_up_with_copies():
    experiment = one("parity_check", "rnn", settings={"strings_per_length": "5", "num_test_lengths": "12"})
    ((lengths, _, batch),) = evaluation_batches(SUITE.cell(experiment.run))
    assert len(lengths) == len(batch.tokens) == 60 and (lengths > 0).all()


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
    table, _ = SUITE.tables([(experiment.run, results)])
    assert table.columns == ("Level", "Task", "Chance", "RNN", "paper")
    assert table.rows[0][:3] == ("regular", "cycle_navigation", "20") and table.rows[0][4] == "100.0"
    assert "7..12" in table.notes[1] and "steps 20 instead of 1,000,000" in table.notes[2]


def test_records_stand_beside_the_published_numbers():
    (experiment,) = plan(tasks=["parity_check"], models=["rnn"])
    results = [
        Result(m, State.FINISHED, {"score": s}, 1.0) for m, s in zip(experiment.members, (0.5, 1.0), strict=False)
    ]
    results.append(Result(experiment.members[2], State.DIVERGED, {}, 1.0))
    found = {r.statistic: (r.value, r.members, r.published) for r in SUITE.records([(experiment.run, results)])}
    assert found == {
        **{"max": (100.0, 2, 100.0), "mean": (75.0, 2, None), "std": (25.0, 2, None)},
        **{"mean_over_seeds": (75.0, 2, 95.5), "std_over_seeds": (25.0, 2, 14.2)},
    }


def test_data():
    pairs = list(SUITE.data("parity_check", split=None, count=3, length=5, seed=1, settings={}))
    assert pairs == list(SUITE.data("parity_check", split=None, count=3, length=5, seed=1, settings={}))
    assert all(len(source) == 5 and target in (["a"], ["b"]) for source, target in pairs)
    with pytest.raises(UsageError, match="no splits"):
        list(SUITE.data("parity_check", split="train", count=1, length=5, seed=1, settings={}))


def test_the_loss_can_count_the_padding_of_targets():
    masks = []
    for value in ("false", "true"):
        experiment = one("stack_manipulation", "rnn", settings={**TINY, "train_padding": value})
        cell = SUITE.cell(experiment.run)
        batch = make_ensemble(cell, experiment.members).stream(0)
        masks.append(batch.target_mask.sum())
        *_, tested = next(evaluation_batches(cell))
        assert not (tested.target_mask == (tested.tokens == cell.num_symbols)).all()  # tests never do
    assert masks[1] == (batch.tokens == cell.num_symbols).sum() > masks[0]  # pyright: ignore
    assert "train_padding True instead of False" in experiment.departures  # pyright: ignore


def test_accuracy_can_be_pooled_and_dropout_stay_on_in_tests(tmp_path: Path):
    small = {key: value for key, value in TINY.items() if key != "hidden_size"}
    small |= {
        "width": "8",
        "num_heads": "2",
        "num_layers": "1",
        "positions": "none",
        "learning_rates": "1e-3",
        "steps": "1",
    }
    task, model, curves = "stack_manipulation", "transformer_encoder", {}
    for name in ("plain", "pooled_accuracy", "test_dropout"):
        changes = {} if name == "plain" else {name: "true"}
        experiment = one(task, model, seeds=1, settings={**small, "dropout": "0.7", **changes})
        (result,) = SUITE.execute(experiment, tmp_path, Watcher())  # from the same checkpoint
        curves[name] = result.detail["accuracy_per_length"]["accuracy"]
    assert curves["plain"] != curves["pooled_accuracy"] and curves["plain"] != curves["test_dropout"]


def test_runs_with_a_setting_that_is_no_more_can_still_be_read():
    """The loss could once be summed, in the belief that the released code does so. It averages, as `mean` did."""
    run = one("parity_check", "rnn").run
    for loss, departs in (("mean", False), ("sum", True)):
        stored = replace(run, setting={**run.setting, "loss": loss})
        results = [Result({"seed": 0, "learning_rate": 1e-4}, State.FINISHED, {"score": 1.0}, 1.0)]
        assert SUITE.cell(stored).protocol == SUITE.cell(run).protocol
        assert ("loss sum instead of mean" in "".join(SUITE.tables([(stored, results)])[0].notes)) is departs
    with pytest.raises(UsageError, match="No setting named 'loss'"):
        plan(settings={"loss": "sum"})
