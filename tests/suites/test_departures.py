"""In which ways results are not the paper's."""

from suite_support import departures_of

from humboldt.suites import plans, suites
from humboldt.suites.departures import Departure, departures, sentence
from humboldt.suites.experiments import Request

SUITE = suites.get("chomsky")


def test_one_difference_in_words():
    assert str(Departure("learning_rate", (0.004,), (1e-4, 3e-4))) == "learning_rate 0.004 (paper: 0.0001, 0.0003)"
    assert str(Departure("lengths", [1, 20], [1, 40])) == "lengths 1..20 (paper: 1..40)"
    assert str(Departure("seed", (3, 4, 5), (0, 1, 2))) == "seed 3..5 (paper: 0..2)"
    assert str(Departure("factor", (1, 4), (1, 2, 4, 10), is_part=True)) == "only factor 1, 4 (paper: 1, 2, 4, 10)"
    assert str(Departure("clip", None, 1.0)) == "clip none (paper: 1)"
    assert str(Departure("search", text="another search")) == "another search"


def test_what_is_everybodys_is_said_once_and_what_is_not_has_an_owner():
    cells = [("parity", "rnn"), ("parity", "lstm"), ("even", "rnn"), ("even", "lstm")]
    shared = [Departure("steps", 5, 9, *cell) for cell in cells]
    of_model = [Departure("clip", None, 1.0, task, "rnn") for task in ("parity", "even")]
    of_task = [Departure("order", "code", "paper", "even", model) for model in ("rnn", "lstm")]
    of_cell = [Departure("size", 1, 2, "even", "rnn")]
    text = sentence([*shared, *of_model, *of_task, *of_cell])
    assert text == (
        "Not the paper's setting: steps 5 (paper: 9); even: order code (paper: paper); "
        "even · rnn: size 1 (paper: 2); rnn: clip none (paper: 1)."
    )
    assert sentence([]) == ""


def test_most_of_the_models_are_told_by_the_others():
    cells = [("t", model) for model in "abcd"]
    found = [*(Departure("steps", 5, 9, *cell) for cell in cells), *(Departure("x", 1, 2, *cell) for cell in cells[:3])]
    assert "all but d: x 1 (paper: 2)" in sentence(found)


def planned(**options):
    return plans.plan(SUITE, Request(**{"tasks": ("parity_check",), "models": ("rnn",), "preset": "paper", **options}))


def test_departures_are_data():
    parts = [(e.training, e.evaluations[0], e.members) for e in planned(settings={"steps": 7}, seeds=2)]
    found = {d.name: (d.ours, d.papers, d.task, d.model) for d in departures(SUITE, parts)}
    assert found == {
        "steps": (7, 1_000_000, "parity_check", "rnn"),
        "seeds": (2, 10, "parity_check", "rnn"),
    }


def test_fewer_members_are_a_departure():
    assert "learning_rate 0.0001 (paper: 0.0001, 0.0003, 0.0005)" in departures_of(
        SUITE, planned(settings={"learning_rates": "1e-4"})
    )


def test_what_only_the_test_sees_departs_too():
    assert "strings_per_length 64 (paper: 512)" in departures_of(SUITE, planned(settings={"strings_per_length": 64}))


def test_a_setting_that_was_added_later_departs_when_it_is_used():
    assert departures_of(SUITE, planned(settings={"train_padding": "true"})) == (
        "Not the paper's setting: train_padding true (paper: false)."
    )


def test_a_swept_setting_departs_only_where_the_paper_has_not_tried_the_value():
    def tape(value: str) -> str:
        return departures_of(SUITE, planned(models=("tape_rnn",), settings={"num_tapes": value}))

    assert tape("4") == "Not the paper's setting: only num_tapes 4 (paper: 1, 4)."
    assert tape("3") == "Not the paper's setting: num_tapes 3 (paper: 1, 4)."
