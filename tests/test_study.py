from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

import humboldt
from humboldt import cli
from humboldt.errors import RunError
from humboldt.store import State
from humboldt.suites._base import Watcher
from humboldt.suites.chomsky import Chomsky

TINY = {
    "steps": 20,
    "batch_size": 4,
    "hidden_size": 8,
    "train_lengths": (1, 6),
    "test_lengths": (7, 9),
    "strings_per_length": 3,
    "learning_rates": (1e-3,),
}


def test_from_python(tmp_path: Path):
    study = humboldt.run(
        "chomsky", tasks=["parity_check"], models=["rnn"], preset="quick", seeds=1, settings=TINY, out=tmp_path
    )
    records = study.records()
    assert [record["statistic"] for record in records] == ["max", "mean", "std", "mean_over_seeds", "std_over_seeds"]
    assert "parity_check" in study.table()
    assert study.pending() == []


def test_a_failing_experiment_is_recorded_and_the_others_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    real = Chomsky.execute

    def execute(self: Chomsky, experiment, checkpoints, watcher):
        if experiment.run.task == "even_pairs":
            raise ZeroDivisionError("oh dear")
        return real(self, experiment, checkpoints, watcher)

    options = {
        "tasks": ["even_pairs", "parity_check"],
        "models": ["rnn"],
        "seeds": 1,
        "settings": TINY,
        "out": tmp_path,
    }
    monkeypatch.setattr(Chomsky, "execute", execute)
    with pytest.raises(RunError, match=r"1 of 2 experiments failed: even_pairs · rnn: ZeroDivisionError: oh dear"):
        humboldt.run("chomsky", **options)
    study = humboldt.plan("chomsky", **options)
    states = {run.task: [result.state for result in results] for run, results in study.store.runs()}
    assert states == {"even_pairs": [State.FAILED], "parity_check": [State.FINISHED]}
    assert [experiment.run.task for experiment in study.pending()] == ["even_pairs"]
    monkeypatch.undo()
    study.run(lambda experiment: Watcher())
    assert study.pending() == []


def test_members_that_do_not_fit_together_are_trained_in_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    options = {"tasks": ["parity_check"], "models": ["rnn"], "seeds": 5, "settings": TINY}
    together = humboldt.run("chomsky", **options, out=tmp_path / "together")
    real, sizes, warnings = Chomsky.execute, [], []

    def execute(self: Chomsky, experiment, checkpoints, watcher):
        sizes.append(len(experiment.members))
        if len(experiment.members) > 2:
            jax.block_until_ready(jax.jit(lambda: jnp.zeros(2**46))())  # 256 TB
        return real(self, experiment, checkpoints, watcher)

    monkeypatch.setattr(Chomsky, "execute", execute)
    study = humboldt.plan("chomsky", **options, out=tmp_path / "groups")
    study.run(lambda experiment: Watcher(warn=warnings.append))
    assert sizes == [5, 3, 2, 1, 2]
    assert warnings[0].startswith("parity_check · rnn: 5 members together need more memory than there is.")
    ((_, expected),), ((_, found),) = together.store.runs(), study.store.runs()
    assert [(r.member, r.measures) for r in found] == [(r.member, r.measures) for r in expected]


def test_one_member_that_does_not_fit_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def execute(self: Chomsky, experiment, checkpoints, watcher):
        raise MemoryError("nothing left")

    monkeypatch.setattr(Chomsky, "execute", execute)
    with pytest.raises(RunError, match=r"parity_check · rnn: MemoryError: nothing left"):
        humboldt.run("chomsky", tasks=["parity_check"], models=["rnn"], seeds=1, settings=TINY, out=tmp_path)


def test_what_cannot_be_measured_for_lack_of_memory_is_run_nevertheless(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def estimate(self: Chomsky, experiments):
        raise MemoryError

    monkeypatch.setattr(Chomsky, "estimate", estimate)
    study = humboldt.plan("chomsky", tasks=["parity_check"], models=["rnn"], seeds=1, settings=TINY, out=tmp_path)
    cli._announce(study)
    said = capsys.readouterr().err
    assert "parity_check · rnn: 1 member x" in said and "do not fit into memory together" in said
