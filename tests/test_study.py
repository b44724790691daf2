from pathlib import Path

import pytest

import humboldt
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
