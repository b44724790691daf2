"""The experiments of one command: planned, run, resumed, shown."""

import os
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from engine_support import Clockwork, out_of_memory
from suite_support import TINY, Recording

import humboldt
from humboldt.core.events import Progress
from humboldt.core.results import State
from humboldt.errors import Interrupted, RunError, UsageError
from humboldt.running import study as module
from humboldt.running.interrupts import stop_on_interrupt
from humboldt.running.planning import announce
from humboldt.running.study import Study
from humboldt.storage import checkpoints
from humboldt.storage.locks import Lock
from humboldt.storage.store import Store, checkpoint_folder, weights_path
from humboldt.suites.reading import upgrade

OPTIONS: dict[str, Any] = {"tasks": ["parity_check"], "models": ["rnn"], "preset": "paper"}


def plan(out: Path, seeds: int = 2, tasks: tuple[str, ...] = ("parity_check",), **settings) -> Study:
    changes = {**TINY, "strings_per_length": 10, **settings}
    return humboldt.plan("chomsky", **{**OPTIONS, "tasks": tasks, "seeds": seeds, "settings": changes, "out": out})


def run(study: Study, sink: Recording | None = None, **options) -> Recording:
    sink = sink or Recording()
    study.run(lambda experiment: sink, **options)
    return sink


def states(study: Study) -> dict[str, list[State]]:
    found = Store.open(study.out, upgrade).scores()
    return {scores.training.task: [result.state for result in scores.results] for scores in found}


def test_from_python(tmp_path: Path):
    """With the real engine."""
    told = []
    study = humboldt.run(
        "chomsky",
        **OPTIONS,
        seeds=1,
        settings=TINY,
        out=tmp_path,
        progress=lambda name, event: told.append((name, event)),
    )
    assert [record["statistic"] for record in study.records()] == [
        *("max", "mean", "std", "mean_over_seeds", "std_over_seeds"),
        *("interquartile_mean", "solved", "solved_low", "solved_high"),
    ]
    assert "parity_check" in study.table() and study.pending() == []
    assert {name for name, _ in told} == {"parity_check · rnn"}
    assert {event.phase for _, event in told if isinstance(event, Progress)} == {
        *("starting", "training", "evaluation")
    }
    assert len(list(tmp_path.glob("weights/*/*.weights"))) == 1
    assert not list(tmp_path.glob("checkpoints/*")) and not list(tmp_path.glob("locks/*"))


def test_planning_writes_nothing(tmp_path: Path):
    study = plan(tmp_path / "new")
    assert len(study.pending()) == 1 and study.records() == [] and study.departures()
    assert not (tmp_path / "new").exists()


def test_the_same_study_again_does_nothing(clockwork: Clockwork, tmp_path: Path):
    run(plan(tmp_path))
    before = (tmp_path / "results.db").read_bytes()
    run(plan(tmp_path))
    assert clockwork.trained == [2]
    assert sqlite3.connect(tmp_path / "results.db").execute("SELECT count(*) FROM scores").fetchone() == (2,)
    assert len(before) == len((tmp_path / "results.db").read_bytes())


def test_more_seeds_train_only_the_new_members(clockwork: Clockwork, tmp_path: Path):
    run(plan(tmp_path, seeds=2))
    more = plan(tmp_path, seeds=5)
    assert [member["seed"] for experiment in more.pending() for member in experiment.members] == [2, 3, 4]
    run(more)
    assert clockwork.trained == [2, 3] and more.pending() == []
    assert {record["members"] for record in more.records() if record["statistic"] == "max"} == {5}


def test_more_test_strings_score_kept_members_again_and_train_nobody(
    clockwork: Clockwork,
    tmp_path: Path,
):
    run(plan(tmp_path), keep="all")
    other = plan(tmp_path, strings_per_length=20)
    assert [(e.score_only, len(e.members)) for e in other.pending()] == [(True, 2)]
    run(other)
    assert (clockwork.trained, clockwork.restored) == ([2], [2]) and other.pending() == []


def test_members_that_were_not_kept_are_trained_again_for_another_test(
    clockwork: Clockwork,
    tmp_path: Path,
):
    run(plan(tmp_path, seeds=3), keep="best")
    other = plan(tmp_path, seeds=3, strings_per_length=20)
    assert sorted((e.score_only, len(e.members)) for e in other.pending()) == [(False, 2), (True, 1)]
    run(other)
    assert clockwork.trained == [3, 2] and clockwork.restored == [1] and other.pending() == []


def test_a_failing_experiment_is_recorded_and_the_others_go_on(clockwork: Clockwork, tmp_path: Path):
    def fail(job) -> None:
        if job.problem.task.__class__.__name__ == "EvenPairs":
            raise ZeroDivisionError("oh dear")

    clockwork.on_train = fail
    study = plan(tmp_path, seeds=1, tasks=("even_pairs", "parity_check"))
    sink = Recording()
    with pytest.raises(
        RunError, match=r"1 of 2 experiments failed: even_pairs · rnn: ZeroDivisionError: oh dear"
    ) as failed:
        run(study, sink)
    assert str(failed.value).endswith(f"For the traceback:\n  humboldt show {tmp_path} --failures")
    assert states(study) == {"even_pairs": [State.FAILED], "parity_check": [State.FINISHED]}
    assert any("Continuing with the other experiments" in warning for warning in sink.warnings)
    assert [experiment.training.task for experiment in study.pending()] == ["even_pairs"]
    assert "failed" in study.table()
    clockwork.on_train = lambda job: None
    run(study)
    assert study.pending() == [] and states(study)["even_pairs"] == [State.FINISHED]


def test_a_study_whose_members_all_diverge_is_finished_and_its_table_says_so(clockwork: Clockwork, tmp_path: Path):
    clockwork.diverging = {0, 1}
    study = plan(tmp_path)
    run(study)  # without an error: nothing failed
    assert states(study) == {"parity_check": [State.DIVERGED] * 2} and study.pending() == []
    assert "all diverged" in study.table() and "failed" not in study.table()


def test_failed_scoring_is_repeated_without_training_again(clockwork: Clockwork, tmp_path: Path):
    def fail(members: int) -> None:
        raise ZeroDivisionError("oh dear")

    clockwork.on_score = fail
    with pytest.raises(RunError, match="scoring failed: ZeroDivisionError: oh dear"):
        run(plan(tmp_path))
    assert states(plan(tmp_path)) == {"parity_check": [State.FAILED] * 2}
    clockwork.on_score = lambda members: None
    run(plan(tmp_path))
    assert clockwork.trained == [2] and states(plan(tmp_path)) == {"parity_check": [State.FINISHED] * 2}
    assert not list(tmp_path.glob("checkpoints/*"))


def test_failed_scoring_is_repeated_without_training_where_a_member_diverged(
    clockwork: Clockwork,
    tmp_path: Path,
):
    def fail(members: int) -> None:
        raise ZeroDivisionError("oh dear")

    clockwork.on_score, clockwork.diverging = fail, {0}
    with pytest.raises(RunError):
        run(plan(tmp_path, seeds=3))
    clockwork.on_score = lambda members: None
    run(plan(tmp_path, seeds=3))
    assert clockwork.trained == [3]
    assert not list(tmp_path.glob("checkpoints/*"))


def test_members_that_do_not_fit_together_are_trained_in_groups(clockwork: Clockwork, tmp_path: Path):
    run(plan(tmp_path / "together", seeds=5))
    clockwork.on_train = out_of_memory(2)
    sink = run(plan(tmp_path / "groups", seeds=5))
    assert clockwork.trained == [5, 5, 3, 2, 1, 2] and len(sink.warnings) == 2
    together, groups = (
        [(dict(r.member), dict(r.measures)) for r in Store.open(tmp_path / name).scores()[0].results]
        for name in ("together", "groups")
    )
    assert together == groups


def test_weights_come_before_rows_and_rows_before_checkpoints_go(
    clockwork: Clockwork,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    order: list[str] = []
    real_write, real_add, real_remove = checkpoints.write, Store.add, shutil.rmtree

    def write(path: Path, *arguments, **options) -> None:
        if path.suffix == ".weights":
            order.append("weights")
        real_write(path, *arguments, **options)

    def add(self, *arguments, **options) -> None:
        order.append("rows")
        assert list(tmp_path.glob("checkpoints/*/*.ckpt"))
        real_add(self, *arguments, **options)

    def remove(path, *arguments, **options) -> None:
        if "checkpoints" in str(path):
            order.append("checkpoints")
        real_remove(path, *arguments, **options)

    monkeypatch.setattr(checkpoints, "write", write)
    monkeypatch.setattr(Store, "add", add)
    monkeypatch.setattr(shutil, "rmtree", remove)
    run(plan(tmp_path), keep="all")
    assert order == ["weights", "weights", "rows", "checkpoints"]


def test_what_a_killed_process_left_of_finished_trainings_is_removed(clockwork: Clockwork, tmp_path: Path):
    study = plan(tmp_path, seeds=3)
    run(study)
    ((training, members),) = [(e.training, e.members) for e in study.experiments]
    group, other = (checkpoint_folder(tmp_path, training, chosen) for chosen in (members[1:], [*members, {"seed": 9}]))
    for folder in (group, other):
        checkpoints.write(folder / "done-000000001.ckpt", {}, {})
    lock = tmp_path / "locks" / f"{training.key}.lock"
    lock.write_text("")
    with holding(lock):
        run(plan(tmp_path, seeds=3))
        assert group.exists()  # somebody works on this training
    run(plan(tmp_path, seeds=3))
    assert not group.exists() and not lock.exists() and clockwork.trained == [3]
    assert other.exists()  # of more members: it may be half done


@contextmanager
def holding(path: Path) -> Iterator[None]:
    lock = Lock(path)
    assert lock.claim()
    yield
    os.close(lock._file)  # as a kill does: the file stays  # pyright: ignore


def test_what_another_process_works_on_is_left_to_it(
    clockwork: Clockwork,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(module, "WAIT_SECONDS", 0.01)
    study = plan(tmp_path, tasks=("even_pairs", "parity_check"))
    busy = Lock(tmp_path / "locks" / f"{study.experiments[0].training.key}.lock")
    assert busy.claim()
    with pytest.raises(Interrupted):
        run(study, Recording(stop_after=20))
    assert list(states(study)) == ["parity_check"]
    threading.Timer(0.2, busy.release).start()
    run(study)
    assert set(states(study)) == {"even_pairs", "parity_check"} and not list(tmp_path.glob("locks/*"))


def test_a_stopped_study_goes_on_where_it_was(clockwork: Clockwork, tmp_path: Path):
    with pytest.raises(Interrupted):
        run(plan(tmp_path, strings_per_length=1000), Recording(stop_after=0))
    assert list(tmp_path.glob("checkpoints/*/*.ckpt")) and not list(tmp_path.glob("locks/*"))
    run(plan(tmp_path, strings_per_length=1000))
    assert clockwork.trained == [2] and plan(tmp_path, strings_per_length=1000).pending() == []


def test_results_of_other_requests_that_share_a_cell_are_shown_together(
    clockwork: Clockwork,
    tmp_path: Path,
):
    run(plan(tmp_path, seeds=1))
    other = plan(tmp_path, seeds=1, learning_rates=(1e-2,))
    run(other)
    (best,) = [record for record in other.records() if record["statistic"] == "max"]
    assert best["members"] == 2
    run(plan(tmp_path, seeds=1, steps=21))
    assert [record["members"] for record in other.records() if record["statistic"] == "max"] == [2]


def test_what_cannot_be_measured_for_lack_of_memory_is_run_nevertheless(
    clockwork: Clockwork,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    def sample(job):
        raise MemoryError

    monkeypatch.setattr(clockwork, "sample", sample)
    announce(plan(tmp_path, seeds=1))
    said = capsys.readouterr().err
    assert "parity_check · rnn: 1 member x" in said and "do not fit into memory together" in said


def test_an_estimate_counts_training_and_scoring(clockwork: Clockwork, tmp_path: Path):
    study = plan(tmp_path)
    (estimate,) = study.estimate(study.pending())
    assert estimate.seconds >= 1.0
    run(study, keep="all")
    (again,) = study.estimate(plan(tmp_path, strings_per_length=20).pending())
    assert again.seconds < 1.0  # nobody is trained


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tasks": 5}, "tasks=5 is not a list of names"),
        ({"models": [5]}, r"models=\[5\] is not a list of names"),
        ({"seeds": 0}, "a whole number of at least 1"),
        ({"seeds": True}, "seeds=True"),
        ({"seeds": 1.5}, "seeds=1.5"),
        ({"settings": [("steps", 1)]}, "not pairs of name and value"),
        ({"out": ""}, "is not a folder"),
        ({"out": 5}, "out=5 is not a folder"),
        ({"preset": "papr"}, "Did you mean 'paper'"),
        ({"settings": {"steps": None}}, "steps=none: steps must be a whole number"),
    ],
)
def test_wrong_arguments(options: dict, message: str):
    with pytest.raises(UsageError, match=message):
        humboldt.plan("chomsky", **options)


def test_one_name_is_a_list_of_one(tmp_path: Path):
    study = humboldt.plan("chomsky", tasks="parity_check", models="rnn", out=tmp_path)
    assert [e.name for e in study.experiments] == ["parity_check · rnn"]


def test_a_question_instead_of_a_signal_outside_the_main_thread():
    found: list[bool] = []

    def ask() -> None:
        with stop_on_interrupt() as should_stop:
            found.append(should_stop())

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert found == [False]


def with_two_evaluations(study: Study) -> Study:
    """The same, asked under a second evaluation as well: on more strings."""
    (experiment,) = study.experiments
    (first,) = experiment.evaluations
    second = replace(first, setting={**first.setting, "strings_per_length": 20})
    return replace(study, experiments=(replace(experiment, evaluations=(first, second)),))


def test_who_is_stopped_between_two_evaluations_keeps_the_first(clockwork: Clockwork, tmp_path: Path):
    study = with_two_evaluations(plan(tmp_path))
    first, second = (e.key_for(study.experiments[0].training) for e in study.experiments[0].evaluations)

    def stop(members: int) -> None:
        if Store.open(tmp_path, upgrade).scores():  # the first evaluation is stored
            raise Interrupted("Interrupted by the user.")

    clockwork.on_score = stop
    with pytest.raises(Interrupted):
        run(study)
    done = Store.open(tmp_path, upgrade).done()[study.experiments[0].training.key]
    assert set(done.scored) == {first} and len(done.scored[first]) == 2
    clockwork.on_score = lambda members: None
    run(study)
    done = Store.open(tmp_path, upgrade).done()[study.experiments[0].training.key]
    assert set(done.scored) == {first, second} and clockwork.trained == [2] and study.pending() == []
    (kept,) = tmp_path.glob("weights/*/*.weights")
    best = study.experiments[0].members[-1]
    assert best["seed"] == 1 and kept == weights_path(tmp_path, study.experiments[0].training, best)
    assert not list(tmp_path.glob("checkpoints/*"))
