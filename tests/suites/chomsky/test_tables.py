"""The paper's tables with ours beside them."""

import dataclasses
from typing import Any

import pytest
from suite_support import departures_of, result, scores_of

from humboldt import published
from humboldt.core.results import Scores, State
from humboldt.suites import plans, suites
from humboldt.suites.cells import sort_results
from humboldt.suites.experiments import Experiment, Request
from humboldt.suites.reading import records, tables

SUITE = suites.get("chomsky")


def plan(task: str, model: str, seeds: int | None = None, **settings: Any) -> list[Experiment]:
    return plans.plan(SUITE, Request((task,), (model,), "paper", seeds, settings))


def one(task: str, model: str, **settings: Any) -> Experiment:
    (experiment,) = plan(task, model, **settings)
    return experiment


def scored(experiment: Experiment, *values: float) -> Scores:
    return scores_of(experiment, [result(m, {"score": s}) for m, s in zip(experiment.members, values, strict=False)])


def test_the_table_takes_the_best_of_a_sweep_and_says_which():
    experiments = plan("duplicate_string", "tape_rnn", num_tapes="1")
    found = [scored(e, score) for e, score in zip(experiments, (0.5, 0.95, 0.7), strict=True)]
    table, means, _ = tables(SUITE, found)  # the last is that of times
    assert table.texts[0][4:6] == ("95.0*", "100.0")
    assert means.texts[0][4:6] == ("95.0", "90.0 ± 16.3")  # one member has no deviation
    assert "duplicate_string Tape-RNN: computation_tokens=1" in table.notes[1]
    assert "only num_tapes 1 (paper: 1, 4)" in table.notes[-1]
    (best, *_) = records(SUITE, found)
    assert (best.statistic, best.value, best.members, best.published) == ("max", 95.0, 3, 100.0)


def test_autoregressive_results_have_a_table_of_their_own():
    told = one("reverse_string", "stack_rnn", autoregressive="true")
    assert "autoregressive true (paper: false)" in departures_of(SUITE, [told])
    found = tables(SUITE, [scored(told, 1.0), scored(one("reverse_string", "stack_rnn"), 0.5)])
    titles = {table.title: " ".join(table.notes) for table in found}
    assert set(titles) == {
        *("chomsky, paper", "chomsky, paper: mean ± deviation", "chomsky, paper: seconds of 1,000 steps"),
        *("chomsky, paper, autoregressive", "chomsky, paper, autoregressive: mean ± deviation"),
    }
    assert "Paper: Table B4" in titles["chomsky, paper, autoregressive"]
    assert "Paper: Table B5" in titles["chomsky, paper, autoregressive: mean ± deviation"]
    assert "Paper: Table 2" in titles["chomsky, paper"]


def test_the_stack_rnn_stands_in_the_table_of_other_stacks_only_beside_them():
    stack, beside = scored(one("reverse_string", "stack_rnn"), 1.0), scored(one("reverse_string", "stack_lstm"), 1.0)
    assert len(tables(SUITE, [stack])) == 2 + 1  # and the times
    both = [table.columns for table in tables(SUITE, [stack, beside])]
    assert ("Level", "Task", "Chance", "Floor", "Stack-RNN", "paper", "Stack-LSTM", "paper") in both and len(
        both
    ) == 4 + 1


def test_the_table_of_scaling():
    (table,) = tables(
        SUITE, [scored(one("even_pairs", "transformer_encoder", positions="relative", steps="100000"), 0.9)]
    )
    assert table.columns[1:] == ("5 layers, 100,000 steps", "paper")
    assert table.texts == (("even_pairs", "90.0*", "90.2"),)


WILSON_OF_1_OF_2 = {"solved_low": 0.0945, "solved_high": 0.9055}


def test_records_stand_beside_the_published_numbers():
    experiment = one("parity_check", "rnn")
    members = experiment.members
    found = [result(m, {"score": s}) for m, s in zip(members, (0.5, 1.0), strict=False)]
    found.append(result(members[2], state=State.DIVERGED))
    shown = {r.statistic: (r.value, r.members, r.published) for r in records(SUITE, [scores_of(experiment, found)])}
    assert shown == {
        **{"max": (100.0, 2, 100.0), "mean": (75.0, 2, None), "std": (25.0, 2, None)},
        **{"mean_over_seeds": (75.0, 2, 95.5), "std_over_seeds": (25.0, 2, 14.2)},
        **{"interquartile_mean": (75.0, 2, None), "mean_low": (50.0, 2, None), "mean_high": (100.0, 2, None)},
        **{"expected_best_of_1": (75.0, 2, None), "solved": (1, 2, None)},
        **{name: (pytest.approx(value, abs=1e-3), 2, None) for name, value in WILSON_OF_1_OF_2.items()},
        "diverged": (1, 3, None),
    }


def test_means_are_over_the_seeds_that_share_the_best_learning_rate():
    experiment = one("parity_check", "rnn")
    values = {1e-4: 0.9, 3e-4: 0.6, 5e-4: 0.5}
    found = [
        result(m, {"score": values[m["learning_rate"]] + 0.01 * m["seed"]}) for m in experiment.members if m["seed"] < 3
    ]
    shown = {r.statistic: (r.value, r.members) for r in records(SUITE, [scores_of(experiment, found)])}
    value, members = shown["mean_over_seeds"]
    assert abs(float(value) - 91) < 1e-9 and members == 3 and shown["mean"][1] == 9


def test_members_without_a_score_are_named():
    for state in (State.DIVERGED, State.FAILED):
        experiment = one("parity_check", "rnn")
        (table, *_) = tables(SUITE, [scores_of(experiment, [result(experiment.members[0], state=state)])])
        assert table.texts[0][4:] == (state.value, "–")


def test_settings_that_differ_from_every_preset_are_the_heading():
    table, *_ = tables(SUITE, [scored(one("parity_check", "rnn", steps="123", hidden_size="7"), 0.5)])
    assert table.title == "chomsky, paper, hidden_size=7, steps=123"
    assert "steps 123 (paper: 1,000,000)" in table.notes[-1]
    quick = plans.plan(SUITE, Request(("parity_check",), ("rnn",), "quick"))[0]
    assert tables(SUITE, [scored(quick, 0.5)])[0].title == "chomsky, quick"


def test_rows_and_columns_are_in_the_papers_order():
    found = [scored(one(task, model), 0.5) for task in ("reverse_string", "even_pairs") for model in ("lstm", "rnn")]
    table, *_ = tables(SUITE, found)
    assert table.columns[4::2] == ("RNN", "LSTM") and [row[1] for row in table.texts] == [
        "even_pairs",
        "reverse_string",
    ]
    assert [row[0] for row in table.texts] == ["regular", "context-free"] or table.texts[0][0] == "regular"


def test_times_stand_beside_the_papers():
    """Table A.2 has 0.50 hours for a million steps of an RNN on Reverse String: 1.8 s for 1,000."""
    experiment = one("reverse_string", "rnn", steps="2000")
    found = scores_of(
        experiment, [dataclasses.replace(result(m, {"score": 1.0}), seconds=0.5) for m in experiment.members]
    )
    (table,) = [table for table in tables(SUITE, [found]) if "1,000 steps" in table.title]
    assert [list(row) for row in table.texts] == [["reverse_string", "0.25", "1.8"]]
    assert "Table A.2" in table.notes[0]
    quick = plans.plan(SUITE, Request(("reverse_string",), ("rnn",), "quick"))[0]
    timed = scores_of(quick, [dataclasses.replace(result(m, {"score": 1.0}), seconds=0.5) for m in quick.members])
    assert not [table for table in tables(SUITE, [timed]) if "1,000 steps" in table.title]


def test_table_b6_is_one_preset():
    planned = plans.plan(SUITE, Request(preset="table_b6"))
    scales = {(e.training.flat["num_layers"], e.training.flat["steps"]) for e in planned}
    assert len(planned) == 15 * 15 and len(scales) == 15
    assert {e.training.flat["positions"] for e in planned} == {"relative"}
    printed = {(int(row["layers"]), int(row["training_steps"])) for row in published.rows("chomsky") if row["layers"]}
    assert scales == printed
    few = [e for e in planned if e.training.task == "parity_check" and e.training.flat["num_layers"] == 10]
    assert departures_of(SUITE, few) == ""  # it is the paper's setting
    (table,) = [table for table in tables(SUITE, [scored(e, 0.5) for e in few]) if "scaling" in table.title]
    assert len(table.columns) == 1 + 2 * 3 and all(cell != "–" for cell in table.texts[0])


def test_positional_encodings_have_curves_by_length():
    """Figures 4a and B.7: the best member of each encoding."""
    experiments = plan("reverse_string", "transformer_encoder", seeds=1)
    found = []
    for number, e in enumerate(experiments):
        detail = {"accuracy_per_length": {"lengths": [41, 42], "accuracy": [0.5 + number / 10, 0.5]}}
        found.append(scores_of(e, [result(m, {"score": 0.5 + number / 20}, detail=detail) for m in e.members]))
    cells = [cell for cells in sort_results(SUITE, found).cells.values() for cell in cells]
    (figure,) = [one for one in SUITE.presentation.figures(SUITE, cells) if one.name == "position-lengths"]
    shown = {(row["positions"], row["x"]): row["best"] for row in figure.rows}  # pyright: ignore[reportAttributeAccessIssue]
    assert len({positions for positions, _ in shown}) == 5
    assert shown["none", 41] == 50.0 and shown["relative", 41] == pytest.approx(90.0)
