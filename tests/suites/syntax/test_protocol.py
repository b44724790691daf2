"""The protocol of the pseudo-languages: what is trained, and what competes for one cell."""

import pytest
from suite_support import departures_of

from humboldt.errors import UsageError
from humboldt.suites import plans, resolving, suites
from humboldt.suites.experiments import Experiment, Request

SUITE = suites.get("syntax")


def plan(**options) -> list[Experiment]:
    return plans.plan(SUITE, Request(**{"preset": "paper", **options}))


def one(task: str = "adj_n_np", model: str = "lstm", **settings: str) -> Experiment:
    (experiment,) = plan(tasks=(task,), models=(model,), settings={"terminals": "2", **settings})
    return experiment


def model_of(experiment: Experiment):
    return resolving.resolved(experiment).model


def test_the_paper_preset_is_the_paper():
    experiments = plan()
    assert len(experiments) == 4 * 6 * 4  # languages, numbers of terminals, models
    assert {e.training.setting["terminals"] for e in experiments} == {2, 5, 10, 100, 1000, 5000}
    assert departures_of(SUITE, experiments) == ""
    for experiment in experiments:
        assert len(experiment.members) == 30
        parts = resolving.resolved(experiment)
        assert parts.task.terminals == experiment.training.setting["terminals"]
        assert (parts.protocol.lengths, parts.protocol.long_lengths) == ((4, 30), (31, 100))
        assert (parts.protocol.epochs, parts.protocol.batch_size, parts.protocol.steps) == (15, 512, 15 * 157)
        rates = {member["learning_rate"] for member in experiment.members}
        is_transformer = experiment.training.model.startswith("transformer")
        assert parts.protocol.optimiser == ("adamw" if is_transformer else "sgd")
        assert rates == ({1e-4, 3e-4, 5e-4} if is_transformer else {0.1, 0.2, 0.3})


def test_several_numbers_of_terminals_are_several_trainings():
    experiments = plan(tasks=("adj_n_np",), models=("lstm",), settings={"terminals": "2,100"})
    assert [e.name for e in experiments] == [f"adj_n_np · lstm · terminals={n}" for n in (2, 100)]
    assert len({e.training.key for e in experiments}) == 2
    assert experiments[1].training.key == one(terminals="100").training.key  # however it was asked for
    with pytest.raises(UsageError, match="each at most once"):
        plan(tasks=("adj_n_np",), models=("lstm",), settings={"terminals": "2,100,2"})


def test_sizes_are_stated_or_counted():
    stated, counted = one(), one(sizes="counted")
    assert model_of(stated).num_layers == 1 and model_of(counted).num_layers == 2
    assert "sizes counted (paper: stated)" in departures_of(SUITE, [counted])
    assert model_of(one(model="bilstm", sizes="counted")).hidden_size == 256
    assert model_of(one(model="transformer_decoder", sizes="counted")).num_layers == 4
    assert model_of(one(sizes="counted", num_layers="3")).num_layers == 3


def test_quick_takes_longer_for_agreement_unless_told_otherwise():
    experiments = plan(preset="quick", models=("lstm",))
    lengths = [(e.training.setting["train"], e.training.setting["epochs"]) for e in experiments]
    assert lengths == [(2000, 8)] * 2 + [(8000, 12)] * 2
    told = plan(preset="quick", models=("lstm",), settings={"train": "500"})
    assert {e.training.setting["train"] for e in told} == {500}


def test_quick_says_how_it_departs():
    text = departures_of(SUITE, plan(preset="quick", tasks=("adj_n_np",), models=("lstm",)))
    for words in (
        "train 2,000 (paper: 40,000)",
        "epochs 8 (paper: 15)",
        "batch_size 32 (paper: 512)",
        "hidden_size 64",
        "learning_rate 1 (paper: 0.1, 0.2, 0.3)",
        "seeds 1 (paper: 10)",
        "only terminals 2 (paper: 2, 5, 10, 100, 1,000, 5,000)",
    ):
        assert words in text
    assert departures_of(SUITE, plan(tasks=("adj_n_np",), models=("lstm",), settings={"terminals": "3"})) == (
        "Not the paper's setting: terminals 3 (paper: 2, 5, 10, 100, 1,000, 5,000)."
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tasks": ("nested",)}, "No task named 'nested'. Did you mean 'nested_dependency'"),
        ({"models": ("lstms",)}, "No model named 'lstms'. Did you mean 'lstm'"),
        ({"preset": "papr"}, "No preset named 'papr'. Did you mean 'paper'"),
        ({"settings": {"terminal": "2"}}, "No setting named 'terminal'. Did you mean 'terminals'"),
        ({"settings": {"terminals": "0"}}, "each a whole number of at least 1 and of at most 100,000"),
        ({"settings": {"terminals": "2,x"}}, "each a whole number"),
        ({"settings": {"terminals": ""}}, "terminals=: terminals must be"),
        ({"settings": {"distribution": "normal"}}, "distribution must be one of zipf, uniform"),
        (
            {"settings": {"lengths": "5,5"}, "tasks": ("np_n_vp_n",)},
            "no string of a length from 5 to 5.*widen the range",
        ),
        ({"settings": {"lengths": "4,40"}}, "overlap or lie below lengths"),
        ({"settings": {"terminals": "1", "lengths": "4,4"}, "tasks": ("adj_n_np",)}, "split would be empty"),
        ({"settings": {"test": "0"}}, "test=0: test must be a whole number of at least 1"),
        ({"settings": {"epochs": "0"}}, "epochs=0: epochs must be a whole number of at least 1"),
        ({"settings": {"learning_rates": "0"}}, "each a number above 0"),
        ({"settings": {"hidden_size": "0"}}, "hidden_size"),
        ({"seeds": 0}, "whole number of at least 1"),
    ],
)
def test_wrong_requests(options: dict, message: str):
    with pytest.raises(UsageError, match=message):
        plan(**options)


def test_more_seeds_are_more_members_of_the_same_training():
    few, many = (plan(tasks=("adj_n_np",), models=("lstm",), seeds=n, settings={"terminals": "2"})[0] for n in (2, 3))
    assert few.training.key == many.training.key and set(map(str, few.members)) < set(map(str, many.members))


def test_larger_test_splits_are_another_evaluation_of_the_same_training():
    few, many = one(), one(test="5000", long="10", validation="3", long_lengths="31,50")
    assert few.training.key == many.training.key and few.evaluations != many.evaluations
    assert one(lengths="4,20").training.key != few.training.key


def test_table_3_is_no_departure():
    planned = plan(tasks=("adj_n_np",), models=("lstm",), settings={"distribution": "uniform"})
    assert departures_of(suites.get("syntax"), planned) == ""
    (few, *_) = plan(tasks=("adj_n_np",), models=("lstm",), settings={"distribution": "uniform"}, seeds=2)
    assert "seeds 2 (paper: 10)" in departures_of(suites.get("syntax"), [few])
