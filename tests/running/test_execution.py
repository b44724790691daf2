"""Train, keep, score: what happens when memory is short, when scoring fails, and what is done only once."""

import pickle
from dataclasses import replace
from pathlib import Path

import pytest
from engine_support import Clockwork, out_of_memory
from suite_support import TINY, Recording

from humboldt.core.events import Progress
from humboldt.core.results import State
from humboldt.errors import Interrupted, UsageError
from humboldt.running.execution import ExperimentOutcome, Here, Options, ScoringFailed, execute, halves
from humboldt.storage import checkpoints
from humboldt.storage.store import weights_path
from humboldt.suites import plans, suites
from humboldt.suites.experiments import Experiment, Request


def planned(seeds: int = 5, **settings) -> Experiment:
    request = Request(("parity_check",), ("rnn",), "paper", seeds, {**TINY, "strings_per_length": 10, **settings})
    (experiment,) = plans.plan(suites.get("chomsky"), request)
    return experiment


def run(experiment: Experiment, folder: Path, sink: Recording | None = None) -> list[ExperimentOutcome]:
    sink = sink or Recording()
    return [outcome for outcome in Here().run([experiment], Options(folder), lambda _: sink) if outcome is not None]


def score_of(outcomes: list[ExperimentOutcome]) -> dict[int, float]:
    return {
        one.member["seed"]: one.measures["score"]
        for outcome in outcomes
        for _, scored in outcome.scored
        for one in scored
        if one.state is State.FINISHED
    }


def test_an_experiment_is_data_that_travels():
    experiment = planned()
    assert pickle.loads(pickle.dumps(experiment)) == experiment


def test_members_are_trained_scored_and_described(clockwork: Clockwork, tmp_path: Path):
    (outcome,) = run(planned(), tmp_path)
    assert outcome.error is None and clockwork.trained == [5] and set(clockwork.scored) == {5}
    assert score_of([outcome]) == pytest.approx({seed: seed / 10 for seed in range(5)})
    assert [one.state for one in outcome.trained] == [State.FINISHED] * 5
    assert outcome.trained[0].environment == {"device": "clockwork"}
    assert outcome.checkpoints is not None and list(outcome.checkpoints.glob("*.ckpt"))  # the caller removes them


def test_training_out_of_memory_is_repeated_in_halves(clockwork: Clockwork, tmp_path: Path):
    clockwork.on_train = out_of_memory(2)
    sink = Recording()
    outcomes = run(planned(), tmp_path, sink)
    assert clockwork.trained == [5, 3, 2, 1, 2]
    assert [len(outcome.trained) for outcome in outcomes] == [2, 1, 2] and not any(o.error for o in outcomes)
    assert sink.warnings == [
        f"parity_check · rnn: {count} members together need more memory than there is. Retrying in two halves."
        for count in (5, 3)
    ]
    assert score_of(outcomes) == pytest.approx({seed: seed / 10 for seed in range(5)})


def test_one_member_that_does_not_fit_is_a_failure(clockwork: Clockwork, tmp_path: Path):
    clockwork.on_train = out_of_memory(0)
    outcomes = run(planned(2), tmp_path)
    assert clockwork.trained == [2, 1, 1] and len(outcomes) == 2
    for outcome in outcomes:
        assert "RESOURCE_EXHAUSTED" in str(outcome.error)
        assert [one.state for one in outcome.trained] == [State.FAILED]
        assert "Traceback" in outcome.trained[0].detail["error"]


def test_scoring_out_of_memory_is_repeated_in_halves_without_training_again(
    clockwork: Clockwork,
    tmp_path: Path,
):
    clockwork.on_score = out_of_memory(2)
    sink = Recording()
    (outcome,) = run(planned(), tmp_path, sink)
    assert outcome.error is None and clockwork.trained == [5] and set(clockwork.scored) == {1, 2}
    assert score_of([outcome]) == pytest.approx({seed: seed / 10 for seed in range(5)})


def fail(members: int) -> None:
    raise ZeroDivisionError("oh dear")


def test_failed_scoring_keeps_the_training(clockwork: Clockwork, tmp_path: Path):
    clockwork.on_score = fail
    (outcome,) = run(planned(), tmp_path)
    assert isinstance(outcome.error, ScoringFailed) and "ZeroDivisionError: oh dear" in str(outcome.error)
    assert [one.state for one in outcome.trained] == [State.FINISHED] * 5
    ((_, scored),) = outcome.scored
    assert [one.state for one in scored] == [State.FAILED] * 5 and "oh dear" in scored[0].detail["error"]
    assert [member for member, _ in outcome.weights] == list(outcome.experiment.members)  # the next attempt only scores
    clockwork.on_score = lambda members: None
    (again,) = run(planned(), tmp_path)
    assert again.error is None and clockwork.trained == [5]  # from the checkpoint


def test_scoring_that_does_not_fit_even_alone_does_not_train_again(clockwork: Clockwork, tmp_path: Path):
    clockwork.on_score = out_of_memory(0)
    (outcome,) = run(planned(), tmp_path)
    assert clockwork.trained == [5] and isinstance(outcome.error, ScoringFailed)


def test_diverged_members_are_not_scored(clockwork: Clockwork, tmp_path: Path):
    clockwork.diverging = {0, 3}
    (outcome,) = run(planned(), tmp_path)
    assert [one.state for one in outcome.trained] == [
        *(State.DIVERGED, State.FINISHED, State.FINISHED, State.DIVERGED, State.FINISHED)
    ]
    assert set(score_of([outcome])) == {1, 2, 4} and set(clockwork.scored) == {3}
    clockwork.diverging = {0, 1, 2, 3, 4}
    (nobody,) = run(planned(data_seed=1), tmp_path)
    assert nobody.error is None and score_of([nobody]) == {} and nobody.weights == ()


@pytest.mark.parametrize(("keep", "seeds"), [("best", [4]), ("all", [0, 1, 2, 3, 4]), ("none", [])])
def test_which_members_are_kept(clockwork: Clockwork, tmp_path: Path, keep, seeds: list[int]):
    *_, outcome = execute(planned(), Options(tmp_path, keep=keep), Recording())
    assert [member["seed"] for member, _ in outcome.weights] == seeds
    assert [arrays["seed"].tolist() for _, arrays in outcome.weights] == [[seed] for seed in seeds]


def test_kept_members_are_only_scored(clockwork: Clockwork, tmp_path: Path):
    experiment = planned()
    *_, outcome = execute(experiment, Options(tmp_path, keep="all"), Recording())
    for member, arrays in outcome.weights:
        checkpoints.write(weights_path(tmp_path, experiment.training, member), arrays, {})
    kept = replace(experiment, members=experiment.members[1:3], score_only=True)
    *_, again = execute(kept, Options(tmp_path), Recording())
    assert clockwork.trained == [5] and clockwork.restored == [2]
    assert score_of([again]) == pytest.approx({1: 0.1, 2: 0.2}) and again.trained == ()


def test_a_stop_while_scoring_is_not_a_failure(clockwork: Clockwork, tmp_path: Path):
    with pytest.raises(Interrupted):
        run(planned(strings_per_length=1000), tmp_path, Recording(stop_after=0))


class StopsAtTheEnd(Recording):
    """Asks to stop when an evaluation is complete."""

    def should_stop(self) -> bool:
        return any(isinstance(e, Progress) and e.phase == "evaluation" and e.done == e.total for e in self.events)


def test_a_complete_evaluation_is_kept_though_a_stop_was_requested(clockwork: Clockwork, tmp_path: Path):
    sink, outcomes = StopsAtTheEnd(), list[ExperimentOutcome]()
    with pytest.raises(Interrupted):  # before the second experiment begins
        for outcome in Here().run([planned(2), planned(3)], Options(tmp_path), lambda _: sink):
            assert outcome is not None
            outcomes.append(outcome)
    assert clockwork.trained == [2] and score_of(outcomes[-1:]) == pytest.approx({0: 0.0, 1: 0.1})


@pytest.mark.parametrize("where", ["on_train", "on_score"])
def test_an_error_after_a_stop_was_requested_is_the_stop(where: str, clockwork: Clockwork, tmp_path: Path):
    def fail(members: int) -> None:
        raise RuntimeError("a compiler was ended by Ctrl-C, too")

    setattr(clockwork, where, fail)
    with pytest.raises(Interrupted):
        run(planned(), tmp_path, Recording(stop_after=0))
    (outcome,) = run(planned(), tmp_path)
    assert "ended by Ctrl-C" in str(outcome.error)


def test_wrong_use_is_not_recorded_as_a_failure(clockwork: Clockwork, tmp_path: Path):
    def refuse(members: int) -> None:
        raise UsageError("this cannot be")

    clockwork.on_score = refuse
    with pytest.raises(UsageError, match="this cannot be"):
        run(planned(), tmp_path)


@pytest.mark.parametrize(("count", "sizes"), [(2, [1, 1]), (5, [3, 2])])
def test_halves_are_all_members_once(count: int, sizes: list[int]):
    experiment = planned(count)
    parts = halves(experiment)
    assert [len(part.members) for part in parts] == sizes
    assert [member for part in parts for member in part.members] == list(experiment.members)


def test_an_experiment_has_as_many_cores_as_the_executor_says(clockwork: Clockwork, tmp_path: Path):
    seen = []
    clockwork.on_train = lambda job: seen.append(job.cores)
    for number, cores in enumerate((None, 3)):
        *_, _ = execute(planned(1), Options(tmp_path / str(number), cores=cores), Recording())
    assert seen == [None, 3]


def test_who_may_be_forgotten_numbers_checkpoints_and_whoever_goes_on_does_too(clockwork: Clockwork, tmp_path: Path):
    remote, here = Options(tmp_path, can_be_forgotten=True), Options(tmp_path)
    (first,) = execute(planned(1), remote, Recording())
    assert first.checkpoints is not None
    assert [path.name for path in first.checkpoints.glob("*.ckpt")] == ["done-000000001-attempt-0001.ckpt"]
    *_, _ = execute(planned(1), here, Recording())
    assert checkpoints.last_attempt(first.checkpoints) == 2 and clockwork.trained == [1]


@pytest.mark.parametrize(("accuracy", "is_told"), [((0.4, 0.52, 0.5, 0.51), True), ((0.5, 0.5, 0.6, 0.9), False)])
def test_members_that_learned_nothing_are_told_with_the_recipe(
    clockwork: Clockwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, accuracy: tuple[float, ...], is_told: bool
):
    train = clockwork.train

    def with_curves(*arguments):
        trained = train(*arguments)
        curve = {"training": {"accuracy": [*accuracy, None]}}
        trained.outcomes = tuple(replace(outcome, detail=curve) for outcome in trained.outcomes)
        return trained

    monkeypatch.setattr(clockwork, "train", with_curves)
    sink = Recording()
    run(planned(2, learning_rates=(1e-3, 3e-3)), tmp_path, sink)
    assert bool(sink.warnings) == is_told
    if is_told:
        (warning,) = sink.warnings
        assert "parity_check · rnn: nothing was learned. Accuracy on training strings was 51.0 at the end" in warning
        assert "chance is 50.0. Recipe: adam, learning rate 0.001, 0.003, " in warning
