"""Which results compete for one place in a table, and under which heading."""

from suite_support import result, scores_of

from humboldt.core.results import State
from humboldt.suites import plans, suites
from humboldt.suites.cells import heading_of, plain_table, sort_results
from humboldt.suites.experiments import Experiment, Request
from humboldt.suites.reading import tables

SUITE = suites.get("chomsky")


def planned(model: str = "rnn", preset: str = "paper", task: str = "parity_check", **settings) -> list[Experiment]:
    return plans.plan(SUITE, Request((task,), (model,), preset, None, settings))


def heading(experiment: Experiment) -> str:
    return str(heading_of(SUITE, scores_of(experiment, [])))


def test_the_heading_follows_from_settings_and_not_from_the_command():
    (paper,), (quick,) = planned(), planned(preset="quick")
    assert (heading(paper), heading(quick)) == ("paper", "quick")
    (by_hand,) = planned(
        steps=4000, batch_size=32, hidden_size=64, strings_per_length=64, num_test_lengths=24, learning_rates=(4e-3,)
    )
    assert heading(by_hand) == "quick" and by_hand.training.key == quick.training.key


def test_the_order_of_settings_in_a_command_is_no_difference():
    (first,), (second,) = planned(steps=5, hidden_size=7), planned(hidden_size=7, steps=5)
    assert heading(first) == heading(second) == "paper, hidden_size=7, steps=5"


def test_what_the_paper_sweeps_is_no_change():
    assert {heading(e) for e in planned("tape_rnn")} == {"paper"}
    assert {heading(e) for e in planned("tape_rnn", num_tapes=3, computation_tokens=0)} == {"paper, num_tapes=3"}


def test_trainings_of_a_sweep_share_a_cell_and_other_settings_do_not():
    found = [scores_of(e, [result(e.members[0], {"score": 0.5})]) for e in planned("tape_rnn")]
    (other,) = planned("tape_rnn", num_tapes=1, computation_tokens=0, steps=5)
    found.append(scores_of(other, [result(other.members[0], {"score": 0.9})]))
    sorted_ = sort_results(SUITE, found)
    assert {str(key): [len(cell.scores) for cell in cells] for key, cells in sorted_.cells.items()} == {
        "paper": [6],
        "paper, steps=5": [1],
    }
    (cell,) = next(iter(sorted_.cells.values()))
    assert cell.swept(cell.scores[1].training) == {"num_tapes": 4, "computation_tokens": 0}


def test_a_cell_counts_its_members():
    (experiment,) = planned()
    states = [State.FINISHED, State.DIVERGED, State.FAILED, State.DIVERGED]
    results = [
        result(member, {"score": 0.5} if state is State.FINISHED else {}, state)
        for member, state in zip(experiment.members, states, strict=False)
    ]
    ((cell,),) = sort_results(SUITE, [scores_of(experiment, results)]).cells.values()
    assert [cell.count(state) for state in State] == [1, 2, 1]
    assert cell.without_score() == "diverged, failed" and len(cell.members()) == 4
    assert [value for value, _, _ in cell.finished("score")] == [0.5] and cell.finished("other") == []


def test_a_plain_table_shows_the_best_of_every_measure():
    (experiment,) = planned()
    results = [result(m, {"score": s}) for m, s in zip(experiment.members, (0.25, 0.75), strict=False)]
    table = plain_table("title", [scores_of(experiment, results)], ["why"])
    assert table.columns == ("Task", "Model", "Versions", "Members", "best score")
    assert table.texts == (("parity_check", "rnn", "model 1 task 1", "2", "0.75"),) and table.notes == ("why",)


def grouped(*experiments: Experiment) -> dict[str, list[str]]:
    found = [scores_of(e, [result(e.members[0], {"score": 0.5})]) for e in experiments]
    cells = sort_results(SUITE, found).cells
    return {str(heading): [cell.model for cell in under_heading] for heading, under_heading in cells.items()}


def test_models_that_differ_in_their_own_settings_share_a_table():
    (rnn,), (lstm,) = planned(preset="quick", steps=5, hidden_size=181), planned("lstm", preset="quick", steps=5)
    assert grouped(rnn, lstm) == {"quick, steps=5": ["rnn", "lstm"]}
    assert grouped(rnn) == {"quick, hidden_size=181, steps=5": ["rnn"]}  # it holds for the whole table
    (small,) = planned("lstm", preset="quick", steps=5, hidden_size=181)
    assert grouped(rnn, small) == {"quick, hidden_size=181, steps=5": ["rnn", "lstm"]}
    found = [scores_of(e, [result(e.members[0], {"score": 0.5})]) for e in (rnn, lstm)]
    table = tables(SUITE, found)[0]
    assert table.title == "chomsky, quick, steps=5"
    assert "Settings of single models: RNN: hidden_size=181." in table.notes


def test_two_sizes_of_one_model_do_not_compete():
    (small,), (large,) = planned(preset="quick"), planned(preset="quick", hidden_size=181)
    (other,) = planned("lstm", preset="quick", hidden_size=7)
    assert grouped(small, large, other) == {"quick": ["rnn", "lstm"], "quick, hidden_size=181": ["rnn"]}
