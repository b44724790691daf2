"""Which kept member is meant, and what is said where that is not clear."""

from pathlib import Path

import numpy as np
import pytest
from kept_support import fill

import humboldt
from humboldt.core.results import State, TrainedMember
from humboldt.errors import UsageError
from humboldt.models import models
from humboldt.registry import Entry
from humboldt.storage import checkpoints
from humboldt.storage.store import Store, weights_path

SMALL = {"hidden_size": 4, "learning_rates": (1e-3, 1e-2)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Parity by two RNNs of two learning rates, with scores from 0 to 3."""
    fill(tmp_path, "chomsky", "parity_check", "rnn", SMALL, seeds=2)
    return tmp_path


def wrong(folder: Path, **which) -> str:
    with pytest.raises(UsageError) as error:
        humboldt.load(folder, **which)
    return str(error.value)


def test_the_member_that_is_meant(folder: Path):
    best = humboldt.load(folder, suite="chomsky", task="parity_check", model="rnn", member="best")
    assert best.member == {"seed": 1, "learning_rate": 0.01} and best.measures == {"score": 3.0}
    chosen = humboldt.load(folder, member={"seed": 0, "learning_rate": 0.01})
    assert chosen.member == {"seed": 0, "learning_rate": 0.01} and chosen.measures == {"score": 2.0}
    assert best.title == "chomsky/parity_check, rnn, learning_rate 0.01, seed 1: score 3"


def test_the_only_one_needs_no_name(tmp_path: Path):
    fill(tmp_path, "chomsky", "parity_check", "rnn", {**SMALL, "learning_rates": (1e-3,)})
    assert humboldt.load(str(tmp_path)).training.task == "parity_check"


def test_several_are_listed(folder: Path):
    said = wrong(folder)
    assert "4 kept members match: learning_rate=0.001 seed=0; learning_rate=0.001 seed=1;" in said
    assert "--member best" in said and "member='best'" in said


def test_settings_are_listed_only_where_they_distinguish_members_of_a_task(tmp_path: Path):
    for task, size in (("parity_check", 4), ("parity_check", 5), ("even_pairs", 6)):
        fill(tmp_path, "chomsky", task, "rnn", {"hidden_size": size, "learning_rates": (1e-3,)})
    said = wrong(tmp_path)
    for each in ("task=parity_check, hidden_size=4", "task=parity_check, hidden_size=5", "task=even_pairs"):
        assert f"{each}, learning_rate=0.001 seed=0" in said


def test_trainings_are_told_apart_by_their_settings(folder: Path):
    fill(folder, "chomsky", "parity_check", "rnn", {**SMALL, "hidden_size": 5}, seeds=1)
    fill(folder, "chomsky", "even_pairs", "rnn", SMALL, seeds=1)
    assert "task=parity_check, hidden_size=5, learning_rate=0.01 seed=0" in wrong(folder)
    assert "8 kept members match" in wrong(folder, member="best")  # scores of two tasks do not compare
    five = humboldt.load(folder, task="parity_check", settings={"hidden_size": "5"}, member={"learning_rate": 0.01})
    assert five.training.flat["hidden_size"] == 5
    assert "hidden_size=7: no finished member was trained with it." in wrong(folder, settings={"hidden_size": 7})
    assert "hidden_size" in wrong(folder, settings={"hiden_size": 5})
    assert "hidden_size must be a whole number" in wrong(folder, settings={"hidden_size": "many"})


@pytest.mark.parametrize(
    ("which", "said"),
    [
        ({"suite": "syntax"}, "No suite with finished members in"),
        ({"task": "parity"}, "Did you mean 'parity_check'?"),
        ({"model": "lstm"}, "Known: rnn."),
        ({"member": {"sed": 0}}, "Did you mean 'seed'?"),
        ({"member": {"seed": 7}}, "No finished member has seed 7. The finished ones have: learning_rate=0.001 seed=0;"),
        ({"member": "worst"}, "member='worst' is not a member"),
    ],
)
def test_what_is_not_there(folder: Path, which: dict, said: str):
    assert said in wrong(folder, **which)


def test_nothing_kept_says_how_to_keep(folder: Path):
    for path in folder.glob("weights/*/*.weights"):
        path.unlink()
    said = wrong(folder)
    assert "holds 4 such members, but no weights of them" in said and "--keep best" in said


def test_nothing_finished(tmp_path: Path):
    study = humboldt.plan("chomsky", tasks="parity_check", models="rnn", out=tmp_path)
    (experiment,) = study.experiments
    failed = [TrainedMember(member, State.FAILED) for member in experiment.members]
    study.store.add(experiment.training, failed, [(experiment.evaluations[0], ())], format=study.suite.format)
    assert "has finished" in wrong(tmp_path)
    assert "There are no results in" in wrong(tmp_path / "elsewhere")


def test_damaged_weights_and_those_of_another_member_are_refused(folder: Path):
    (scores,) = Store.open(folder).scores()
    first, second = (weights_path(folder, scores.training, scores.results[i].member) for i in (0, 1))
    first.write_bytes(second.read_bytes())
    assert "holds the weights of another member" in wrong(folder, member=dict(scores.results[0].member))
    second.write_bytes(second.read_bytes()[:-1])
    assert "does not match its checksum" in wrong(folder, member=dict(scores.results[1].member))
    _, about = checkpoints.read(first)
    checkpoints.write(second, {"other": np.zeros(3)}, {**about, "member": dict(scores.results[1].member)})
    assert "do not fit" in wrong(folder, member=dict(scores.results[1].member))


def test_weights_of_another_version_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch):
    entry = models.entry("rnn")
    monkeypatch.setitem(models._entries, "rnn", Entry(**{**vars(entry), "version": 99}))
    said = wrong(folder, member="best")
    assert "version 1 of the model 'rnn', and this is version 99" in said
