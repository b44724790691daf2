"""The protocol of Delétang et al. (2023): what is trained, on what, and what competes for one cell."""

from collections import Counter

import pytest
from suite_support import departures_of

from humboldt.errors import UsageError
from humboldt.suites import plans, resolving, suites
from humboldt.suites.chomsky.protocol import LengthGeneralisation
from humboldt.suites.experiments import Experiment, Request

SUITE = suites.get("chomsky")


def plan(**options) -> list[Experiment]:
    return plans.plan(SUITE, Request(**{"preset": "paper", **options}))


def one(task: str, model: str, **options) -> Experiment:
    (experiment,) = plan(tasks=(task,), models=(model,), **options)
    return experiment


@pytest.fixture(scope="module")
def paper() -> list[Experiment]:
    return plan()


def test_the_paper_preset_is_the_paper(paper: list[Experiment]):
    cells = {(e.training.task, e.training.model) for e in paper}
    assert len(cells) == 15 * 9 and ("bucket_sort", "transformer") in cells
    assert departures_of(SUITE, paper) == ""
    for experiment in paper:
        assert len(experiment.members) == 30
        protocol = resolving.resolved(experiment).protocol
        assert (protocol.train_lengths, protocol.test_lengths) == ((1, 40), (41, 500))
        assert protocol.steps == 1_000_000
        assert protocol.batch_size == (16 if experiment.training.model == "ndstack_rnn" else 128)
        assert protocol.scored_lengths() == list(range(41, 501))


def test_no_two_trainings_of_the_paper_are_the_same(paper: list[Experiment]):
    assert len({e.training.key for e in paper}) == len(paper) == 15 * 28


def test_what_the_paper_sweeps_are_trainings_that_compete_for_one_cell(paper: list[Experiment]):
    assert Counter(e.training.model for e in paper if e.training.task == "parity_check") == {
        **{"rnn": 1, "stack_rnn": 1, "tape_rnn": 6, "transformer_encoder": 5, "lstm": 1},
        **{"cnn": 4, "stack_lstm": 1, "ndstack_rnn": 4, "transformer": 5},
    }
    assert len(plan(tasks=("parity_check",), models=("tape_rnn",), settings={"num_tapes": "4"})) == 3
    names = [e.name for e in plan(tasks=("parity_check",), models=("tape_rnn",), settings={"num_tapes": "4"})]
    assert names == [f"parity_check · tape_rnn · computation_tokens={n}" for n in range(3)]


def test_a_task_setting_follows_the_released_code():
    experiment = one("odds_first", "rnn", settings={"order": "code"})
    assert "order code (paper: paper)" in departures_of(SUITE, [experiment])
    assert experiment.training.key != one("odds_first", "rnn").training.key
    with pytest.raises(UsageError, match="order=other: order must be one of paper, code"):
        one("odds_first", "rnn", settings={"order": "other"})


def test_the_first_scored_length_is_41_and_the_last_is_500():
    for count in (2, 24, 460, 1000):
        lengths = LengthGeneralisation(num_test_lengths=count).scored_lengths()
        assert (lengths[0], lengths[-1]) == (41, 500)
        assert len(lengths) == min(count, 460)
    assert LengthGeneralisation(num_test_lengths=1).scored_lengths() == [500]


def test_quick_says_how_it_departs():
    text = departures_of(SUITE, plan(preset="quick", tasks=("parity_check",), models=("rnn",)))
    assert text.startswith("Not the paper's setting: ")
    for words in (
        "steps 4,000 (paper: 1,000,000)",
        "batch_size 32 (paper: 128)",
        "hidden_size 64 (paper: 256)",
        "learning_rate 0.004 (paper: 0.0001, 0.0003, 0.0005)",
        "seeds 2 (paper: 10)",
        "num_test_lengths 24 (paper: 460)",
    ):
        assert words in text


def test_quick_runs_a_picture_of_the_whole_suite():
    cells = [(e.training.task, e.training.model) for e in plan(preset="quick")]
    assert len(cells) == len(set(cells)) == 15 + 4 + 1 and ("parity_check", "lstm") in cells
    assert [e.training.model for e in plan(preset="quick", tasks=("parity_check",))] == list(SUITE.contenders)


def test_train_and_test_lengths_may_not_overlap():
    with pytest.raises(UsageError, match=r"test_lengths \(40, 500\) overlap train_lengths \(1, 40\).*=41,500"):
        plan(settings={"test_lengths": "40,500"})
    with pytest.raises(UsageError, match=r"Use test_lengths=41,41\."):  # a proposal that is a range
        plan(settings={"test_lengths": "5,20"})
    with pytest.raises(UsageError, match=r"train_lengths \(9, 3\) is not a range"):
        plan(settings={"train_lengths": "9,3"})


def test_a_task_may_need_longer_strings():
    with pytest.raises(UsageError, match=r"train_lengths \(1, 2\): this task needs lengths of at least 3"):
        plan(tasks=("binary_addition",), models=("rnn",), settings={"train_lengths": "1,2", "test_lengths": "3,9"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tasks": ("paritycheck",)}, "No task named 'paritycheck'. Did you mean 'parity_check'"),
        ({"models": ("rn",)}, "No model named 'rn'. Did you mean 'rnn'"),
        ({"preset": "quik"}, "No preset named 'quik'. Did you mean 'quick'"),
        ({"settings": {"step": "1"}}, "No setting named 'step'. Did you mean 'steps'"),
        ({"settings": {"loss": "sum"}}, "No setting named 'loss'"),
        ({"seeds": 0}, "seeds=0: seeds must be a whole number of at least 1"),
        ({"seeds": 2, "settings": {"seeds": "3"}}, "seeds=3 and --seeds 2 were both given"),
        ({"settings": {"steps": "0"}}, "steps=0: steps must be a whole number of at least 1"),
        ({"settings": {"learning_rates": "0"}}, "learning_rates must be one value or several"),
        ({"settings": {"learning_rates": "1e-3,1e-3"}}, "each at most once"),
    ],
)
def test_wrong_requests(options: dict, message: str):
    with pytest.raises(UsageError, match=message):
        plan(**options)


def test_more_seeds_and_rates_are_more_members_of_the_same_training():
    few, many = (one("parity_check", "rnn", seeds=n) for n in (2, 3))
    assert few.training.key == many.training.key and set(map(str, few.members)) < set(map(str, many.members))
    other = one("parity_check", "rnn", settings={"learning_rates": "1e-2"})
    assert other.training.key == few.training.key and not set(map(str, other.members)) & set(map(str, few.members))


def test_what_only_the_test_sees_is_another_evaluation_of_the_same_training():
    first, second = one("parity_check", "rnn"), one("parity_check", "rnn", settings={"strings_per_length": "64"})
    assert first.training.key == second.training.key
    assert first.evaluations[0].key_for(first.training) != second.evaluations[0].key_for(second.training)
    for key, value in (("steps", "5"), ("data_seed", "1"), ("hidden_size", "3"), ("train_padding", "true")):
        assert one("parity_check", "rnn", settings={key: value}).training.key != first.training.key


def test_settings_that_were_added_later_leave_old_identities_alone():
    """Values as they were before `test_dropout`, `train_padding` and `pooled_accuracy` existed."""
    setting = one("parity_check", "rnn").training.setting
    assert "train_padding" not in setting and "loss" not in setting
    assert "train_padding" in one("parity_check", "rnn", settings={"train_padding": "true"}).training.setting
