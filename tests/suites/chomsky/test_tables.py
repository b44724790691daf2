"""The paper's tables with ours beside them."""

from typing import Any

import pytest
from suite_support import departures_of, result, scores_of

from humboldt.core.results import Scores, State
from humboldt.suites import plans, suites
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
    table, means = tables(SUITE, found)
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
        *("chomsky, paper", "chomsky, paper: mean ± deviation"),
        *("chomsky, paper, autoregressive", "chomsky, paper, autoregressive: mean ± deviation"),
    }
    assert "Paper: Table B4" in titles["chomsky, paper, autoregressive"]
    assert "Paper: Table B5" in titles["chomsky, paper, autoregressive: mean ± deviation"]
    assert "Paper: Table 2" in titles["chomsky, paper"]


def test_the_stack_rnn_stands_in_the_table_of_other_stacks_only_beside_them():
    stack, beside = scored(one("reverse_string", "stack_rnn"), 1.0), scored(one("reverse_string", "stack_lstm"), 1.0)
    assert len(tables(SUITE, [stack])) == 2
    both = [table.columns for table in tables(SUITE, [stack, beside])]
    assert ("Level", "Task", "Chance", "Floor", "Stack-RNN", "paper", "Stack-LSTM", "paper") in both and len(both) == 4


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
    table, _ = tables(SUITE, [scored(one("parity_check", "rnn", steps="123", hidden_size="7"), 0.5)])
    assert table.title == "chomsky, paper, hidden_size=7, steps=123"
    assert "steps 123 (paper: 1,000,000)" in table.notes[-1]
    quick = plans.plan(SUITE, Request(("parity_check",), ("rnn",), "quick"))[0]
    assert tables(SUITE, [scored(quick, 0.5)])[0].title == "chomsky, quick"


def test_rows_and_columns_are_in_the_papers_order():
    found = [scored(one(task, model), 0.5) for task in ("reverse_string", "even_pairs") for model in ("lstm", "rnn")]
    table, _ = tables(SUITE, found)
    assert table.columns[4::2] == ("RNN", "LSTM") and [row[1] for row in table.texts] == [
        "even_pairs",
        "reverse_string",
    ]
    assert [row[0] for row in table.texts] == ["regular", "context-free"] or table.texts[0][0] == "regular"
