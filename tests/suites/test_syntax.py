"""The protocol of Someya et al. (2024): what is trained on, what is scored, how it is shown."""

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from humboldt.errors import Interrupted, UsageError
from humboldt.store import Result, State
from humboldt.suites import suites
from humboldt.suites._base import Request, Watcher
from humboldt.suites._syntax_training import evaluation_batches, make_ensemble, split_of
from humboldt.suites.syntax import Syntax

SUITE = cast(Syntax, suites.get("syntax"))
TINY = {
    "terminals": "3",
    "train": "32",
    "validation": "8",
    "test": "12",
    "long": "10",
    "epochs": "2",
    "batch_size": "24",
    "embedding_size": "4",
    "hidden_size": "4",
}
AUDIT = {"in_dist": {"length": 0.5, "bag": 0.75}, "out_of_dist": {"length": 0.6, "bag": 0.25}}


def plan(**options: Any):
    return SUITE.plan(Request(**{"preset": "paper", **options}))


def one(task: str = "adj_n_np", model: str = "lstm", **settings: str):
    (experiment,) = plan(tasks=[task], models=[model], settings={"terminals": "2", **settings})
    return experiment


def finished(experiment, *scores: tuple[float, float, float]) -> list[Result]:
    """Results as `execute` gives them, from `(validation, in_dist, out_of_dist)` of each member."""
    detail = {"shortcuts": AUDIT, "parameters": {"embedding": 8, "body": 526_336, "readout": 514}}
    names = ("validation", "in_dist", "out_of_dist")
    return [
        Result(member, State.FINISHED, dict(zip(names, values, strict=True)), 1.0, detail)
        for member, values in zip(experiment.members, scores, strict=False)
    ]


def test_the_paper_preset_is_the_paper():
    experiments = plan()
    assert len(experiments) == 4 * 6 * 4  # languages, numbers of terminals, models
    assert {e.run.setting["terminals"] for e in experiments} == {2, 5, 10, 100, 1000, 5000}
    for experiment in experiments:
        assert experiment.departures == ()
        assert len(experiment.members) == 30
        cell = SUITE.cell(experiment.run)
        assert cell.language.terminals == experiment.run.setting["terminals"]
        assert (cell.protocol.lengths, cell.protocol.long_lengths) == ((4, 30), (31, 100))
        assert (cell.protocol.epochs, cell.protocol.batch_size, cell.protocol.steps) == (15, 512, 15 * 157)
        rates = {member["learning_rate"] for member in experiment.members}
        if experiment.run.model.startswith("transformer"):
            assert cell.optimiser == "adamw" and rates == {1e-4, 3e-4, 5e-4}
        else:
            assert cell.optimiser == "sgd" and rates == {0.1, 0.2, 0.3}


def test_several_numbers_of_terminals_are_several_experiments():
    experiments = plan(tasks=["adj_n_np"], models=["lstm"], settings={"terminals": "2,100,2"})
    assert [e.run.label for e in experiments] == ["paper, terminals=2, zipf", "paper, terminals=100, zipf"]
    assert len({e.run.key for e in experiments}) == 2
    assert experiments[1].run.key == one(terminals="100").run.key  # however it was asked for


def test_sizes_are_stated_or_counted():
    stated, counted = one(), one(sizes="counted")
    assert SUITE.cell(stated.run).model.num_layers == 1 and SUITE.cell(counted.run).model.num_layers == 2
    assert counted.departures == ("sizes counted instead of stated",)
    assert SUITE.cell(one(model="bilstm", sizes="counted").run).model.hidden_size == 256
    assert SUITE.cell(one(model="transformer_decoder", sizes="counted").run).model.num_layers == 4
    assert SUITE.cell(one(sizes="counted", num_layers="3").run).model.num_layers == 3


def test_quick_takes_longer_for_agreement_unless_told_otherwise():
    experiments = plan(preset="quick", models=["lstm"])
    lengths = [(e.run.setting["train"], e.run.setting["epochs"]) for e in experiments]
    assert lengths == [(2000, 8)] * 2 + [(8000, 12)] * 2
    told = plan(preset="quick", models=["lstm"], settings={"train": "500"})
    assert {e.run.setting["train"] for e in told} == {500}


def test_quick_says_how_it_departs():
    (experiment,) = plan(preset="quick", tasks=["adj_n_np"], models=["lstm"])
    text = "; ".join(experiment.departures)
    for word in ("train", "epochs", "batch_size", "lstm hidden_size", "LSTM learning rates 1 instead", "seeds"):
        assert word in text
    (experiment,) = plan(tasks=["adj_n_np"], models=["lstm"], settings={"terminals": "3"})
    assert experiment.departures == ("terminals 3, a number that the paper does not have",)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tasks": ["nested"]}, "No task named 'nested'. Did you mean 'nested_dependency'"),
        ({"models": ["lstms"]}, "No model named 'lstms'. Did you mean 'lstm'"),
        ({"preset": "papr"}, "No preset named 'papr'. Did you mean 'paper'"),
        ({"settings": {"terminal": "2"}}, "No setting named 'terminal'. Did you mean 'terminals'"),
        ({"settings": {"terminals": "0"}}, "terminals=0 is not a number of terminals.*from 1 to 100,000"),
        ({"settings": {"terminals": "2,x"}}, "terminals must be a whole number"),
        ({"settings": {"terminals": ""}}, "terminals is empty"),
        ({"settings": {"distribution": "normal"}}, "distribution is one of zipf, uniform"),
        (
            {"settings": {"lengths": "5,5"}, "tasks": ["np_n_vp_n"]},
            "no string of a length from 5 to 5.*widen the range",
        ),
        ({"settings": {"lengths": "4,40"}}, "overlap or lie below lengths"),
        ({"settings": {"terminals": "1", "lengths": "4,4"}, "tasks": ["adj_n_np"]}, "split would be empty"),
        ({"settings": {"test": "0"}}, "test is 0, but must be at least 1"),
        ({"settings": {"epochs": "0"}}, "epochs is 0, but must be at least 1"),
        ({"settings": {"lstm_learning_rates": "0"}}, "one or more positive numbers"),
        ({"settings": {"hidden_size": "0"}}, "hidden_size is 0, but must be at least 1"),
        ({"seeds": 0}, "at least one seed"),
    ],
)
def test_wrong_requests(options: dict, message: str):
    with pytest.raises(UsageError, match=message):
        plan(**options)


def test_more_seeds_are_more_members_of_the_same_run():
    few, many = (plan(tasks=["adj_n_np"], models=["lstm"], seeds=n, settings={"terminals": "2"})[0] for n in (2, 3))
    assert few.run.key == many.run.key and set(map(str, few.members)) < set(map(str, many.members))


def test_an_epoch_holds_every_string_once():
    experiment = one(**{**TINY, "terminals": "2"})
    cell = SUITE.cell(experiment.run)
    ensemble, train = make_ensemble(cell, experiment.members), split_of(cell, "train")
    assert ensemble.recipe.steps == 2 * 3  # 64 strings are two batches of 24 and one of 16
    epochs = []
    for epoch in range(2):
        batches = [ensemble.stream(3 * epoch + i) for i in range(3)]
        assert [len(batch.tokens) for batch in batches] == [24, 24, 24]
        assert [int(batch.weight.sum()) for batch in batches] == [24, 24, 16]
        epochs.append([row.tobytes() for batch in batches for row in batch.tokens[batch.weight > 0]])
    assert sorted(epochs[0]) == sorted(epochs[1]) == sorted(row.tobytes() for row in train.tokens)
    assert epochs[0] != epochs[1]
    again = make_ensemble(cell, experiment.members).stream(4)  # a function of the step alone
    np.testing.assert_array_equal(again.tokens, ensemble.stream(4).tokens)


def test_the_label_stands_at_the_last_real_symbol():
    cell = SUITE.cell(one(**TINY).run)
    split = split_of(cell, "long")
    ((count, batch),) = evaluation_batches(split)
    assert count == 20 and len(batch.tokens) == 250
    for row in range(count):
        assert np.flatnonzero(batch.target_mask[row]).tolist() == [split.lengths[row] - 1]
        assert batch.mask[row].sum() == split.lengths[row]
        assert batch.targets[row, split.lengths[row] - 1] == split.labels[row]


@pytest.mark.parametrize("model", ["lstm", "transformer_encoder"])
def test_a_tiny_run_gives_results_and_a_table(model: str, tmp_path: Path):
    sizes = {"width": "4", "num_heads": "2", "feed_forward_size": "4"} if model != "lstm" else {}
    settings = {key: value for key, value in TINY.items() if model == "lstm" or not key.endswith("_size")}
    settings |= {"batch_size": "24", **sizes}
    (experiment,) = plan(tasks=["nested_dependency"], models=[model], seeds=1, settings=settings)
    told = []
    results = SUITE.execute(experiment, tmp_path, Watcher(progress=lambda *args: told.append(args)))
    assert len(results) == 3
    for result in results:
        assert result.state is State.FINISHED
        assert set(result.measures) == {"validation", "in_dist", "out_of_dist"}
        assert all(0 <= value <= 1 for value in result.measures.values())
        assert result.measures["in_dist"] * 24 == pytest.approx(round(result.measures["in_dist"] * 24))
        assert set(result.detail["shortcuts"]) == {"in_dist", "out_of_dist"}
        assert result.detail["shortcuts"]["in_dist"]["length"] == 0.5
        lengths = result.detail["accuracy_per_length"]["lengths"]
        assert lengths[0] >= 4 and lengths[-1] <= 100 and all(length % 2 == 0 for length in lengths)
        assert result.detail["training"]["steps"] == [6]
    assert {phase for phase, *_ in told} == {"training", "evaluation"}
    best, mean = SUITE.tables([(experiment.run, results)])
    assert best.columns[:4] == ("Language", "T", "Drawn", "Test") and best.columns[-2:] == ("paper", "Shortcut")
    assert [row[:4] for row in best.rows] == [("nested_dependency", "3", "zipf", test) for test in ("in", "out")]
    assert all(row[-2] == "–" for row in best.rows)  # the paper has no T = 3
    assert "±" in mean.rows[0][-1]
    assert "24 strings of length 4..30 (in) and 20 of 31..100 (out)" in best.notes[0]
    assert "epochs 2 instead of 15" in best.notes[-1]


def test_an_interrupted_run_ends_with_the_same_numbers(tmp_path: Path):
    settings = {**TINY, "epochs": "20", "batch_size": "8"}  # 160 steps: two calls of the compiled program
    (experiment,) = plan(tasks=["adj_n_np"], models=["bilstm"], seeds=1, settings=settings)
    straight = SUITE.execute(experiment, tmp_path / "straight", Watcher())
    with pytest.raises(Interrupted):
        SUITE.execute(experiment, tmp_path / "resumed", Watcher(should_stop=lambda: True))
    resumed = SUITE.execute(experiment, tmp_path / "resumed", Watcher())
    for one, other in zip(straight, resumed, strict=True):
        assert (one.measures, one.detail["training"]) == (other.measures, other.detail["training"])


def test_records_stand_beside_the_published_numbers():
    experiment = one("np_n_vp_n", "lstm")
    results = finished(experiment, (0.9, 0.8, 0.5), (0.8, 1.0, 0.7))
    results.append(Result(experiment.members[2], State.DIVERGED, {}, 1.0))
    records = SUITE.records([(experiment.run, results)])
    assert {record.setting for record in records} == {"paper, terminals=2, zipf"}
    found = {(r.measure, r.statistic): (round(float(r.value), 6), r.members, r.published) for r in records}
    assert found[("in_dist", "max")] == (100.0, 2, 99.86)
    assert found[("in_dist", "mean")] == (90.0, 2, None)
    assert found[("in_dist", "std")] == (10.0, 2, None)
    assert found[("in_dist", "selected")] == (80.0, 2, None)  # of the member that is best on validation
    assert found[("out_of_dist", "max")] == (70.0, 2, 52.04)
    assert found[("in_dist_shortcut", "max")] == (75.0, 2, None)
    assert found[("out_of_dist_shortcut", "max")] == (60.0, 2, None)


def test_the_table_is_the_papers_with_ours_beside_it():
    runs = []
    for terminals in ("100", "2"):
        for model, scores in (("lstm", (0.9, 0.905, 0.9)), ("bilstm", (0.9, 1.0, 0.5))):
            experiment = one("np_n_vp_n", model, terminals=terminals)
            runs.append((experiment.run, finished(experiment, scores)))
    (table,) = SUITE.tables(runs)
    assert table.columns[4:] == ("BiLSTM", "paper", "LSTM", "paper", "Shortcut")
    assert table.rows[0] == ("np_n_vp_n", "2", "zipf", "in", "100.00*", "100.00", "90.50*", "99.86", "75.00")
    assert table.rows[1][4:] == ("50.00 ", "100.00", "90.00 ", "52.04", "60.00")  # captured is more than 90
    assert [row[1] for row in table.rows] == ["2", "2", "100", "100"]
    assert "LSTM 526k (paper 1.05M)" in " ".join(table.notes)


def test_the_uniform_table_of_the_paper_is_not_a_measurement():
    experiment = one("np_n_vp_n", "lstm", distribution="uniform")
    runs = [(experiment.run, finished(experiment, (0.9, 0.8, 0.5)))]
    assert all(record.published is None for record in SUITE.records(runs))
    assert experiment.departures == ("distribution uniform instead of zipf", *experiment.departures[1:])
    (table,) = SUITE.tables(runs)
    assert table.rows[0][5] == "–" and any("repeats Table 2" in note for note in table.notes)


def test_diverged_members_have_no_score():
    experiment = one()
    results = [replace(r, state=State.DIVERGED, measures={}) for r in finished(experiment, (0.9, 0.8, 0.5))]
    assert SUITE.records([(experiment.run, results)]) == []
    (table,) = SUITE.tables([(experiment.run, results)])
    assert table.rows[0][4] == "diverged"


def test_data():
    def data(**options: Any):
        usual = {"split": None, "count": 4, "length": None, "seed": 0, "settings": {"terminals": "3"}}
        return list(SUITE.data("cross_serial_dependency", **{**usual, **options}))

    cell = SUITE.cell(one("cross_serial_dependency", terminals="3").run)
    for name in ("train", "validation", "test", "long"):
        pairs = data(split=name, settings={"terminals": "3"})
        assert [target for _, target in pairs] == [["grammatical"], ["ungrammatical"]] * 2
        assert all(cell.language.oracle(source) == target for source, target in pairs)
        own = split_of(cell, name)  # what a run with the same seed trains on or scores
        assert cell.language.input_alphabet.encode(pairs[0][0]).tolist() == own.tokens[0, : own.lengths[0]].tolist()
    assert data() == data(split="train") != data(seed=1)
    for options, message in (
        ({"split": "dev"}, "No split named 'dev'.*long, test, train, validation"),
        ({"length": 5}, "a range of lengths"),
        ({"settings": {"epochs": "2"}}, "No setting of the data named 'epochs'"),
        ({"settings": {"terminals": "2,3"}}, "one number of terminals"),
        ({"settings": {"terminals": "0"}}, "from 1 to 100,000"),
        ({"count": 20, "split": "test", "settings": {"test": "5"}}, "has 10 strings.*--set test=10"),
    ):
        with pytest.raises(UsageError, match=message):
            data(**options)


def test_an_lstm_learns_adj_n_np(tmp_path: Path):
    settings = {"train": "500", "epochs": "3", "batch_size": "16", "lstm_learning_rates": "1.0"}
    settings |= {"test": "100", "long": "100", "embedding_size": "16", "hidden_size": "16", "validation": "10"}
    (experiment,) = plan(tasks=["adj_n_np"], models=["lstm"], seeds=1, settings={"terminals": "2", **settings})
    (result,) = SUITE.execute(experiment, tmp_path, Watcher())
    assert result.measures["in_dist"] > 0.95 and result.measures["out_of_dist"] > 0.95
