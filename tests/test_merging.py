"""Joining result folders."""

import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from engine_support import Clockwork
from suite_support import TINY, Recording, write_schema_1

import humboldt
from humboldt import checkpoints
from humboldt.errors import RunError, UsageError
from humboldt.merging import merge
from humboldt.store import Store
from humboldt.study import Study

TASKS = ["parity_check", "even_pairs", "cycle_navigation", "reverse_string"]


def plan(out: Path, tasks: list[str] = TASKS, seeds: int = 2, **settings) -> Study:
    changes = {**TINY, "strings_per_length": 10, **settings}
    return humboldt.plan("chomsky", tasks=tasks, models="rnn", preset="paper", seeds=seeds, settings=changes, out=out)


def run(study: Study) -> Study:
    study.run(lambda experiment: Recording(), keep="all")
    return study


def rows(folder: Path) -> list[tuple]:
    """All that must be the same: everything but seconds and dates."""
    with sqlite3.connect(folder / "results.db") as db:
        found = [
            *db.execute("SELECT * FROM trainings"),
            *db.execute("SELECT training, member, state, detail, environment FROM members"),
            *db.execute("SELECT * FROM evaluations"),
            *db.execute("SELECT evaluation, member, state, measures, detail FROM scores"),
        ]
    db.close()
    return sorted(found)


def weights(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.glob("weights/*/*.weights")}


def edit(folder: Path, statement: str) -> None:
    with sqlite3.connect(folder / "results.db") as db:
        assert db.execute(statement).rowcount
    db.close()


def test_two_halves_are_the_whole(clockwork: Clockwork, tmp_path: Path):
    whole = run(plan(tmp_path / "whole"))
    ids = [experiment.id for experiment in whole.experiments]
    for half, chosen in (("a", ids[:2]), ("b", ids[1:])):  # one of them in both
        run(plan(tmp_path / half).only(chosen))
    done = merge([tmp_path / "a", tmp_path / "b"], tmp_path / "out")
    assert (done.members, done.weights) == (8, 8)
    assert rows(tmp_path / "out") == rows(tmp_path / "whole")
    assert weights(tmp_path / "out") == weights(tmp_path / "whole") and len(weights(tmp_path / "out")) == 8
    assert plan(tmp_path / "out").pending() == [] and plan(tmp_path / "out").table() == whole.table()
    again = merge([tmp_path / "b", tmp_path / "out"], tmp_path / "out")  # into itself, once more
    assert (again.members, again.weights) == (0, 0) and rows(tmp_path / "out") == rows(tmp_path / "whole")


def test_other_seeds_of_the_same_training_join_it(clockwork: Clockwork, tmp_path: Path):
    run(plan(tmp_path / "a", seeds=1))
    run(plan(tmp_path / "b", seeds=3))
    merge([tmp_path / "b"], tmp_path / "a")
    assert rows(tmp_path / "a") == rows(tmp_path / "b")


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("""UPDATE scores SET measures = '{"score":0.25}' WHERE member LIKE '%"seed":1%'""", '{"score":0.25}'),
        ("UPDATE members SET detail = '{}' WHERE member LIKE '%\"seed\":1%'", "detail"),
        ("UPDATE trainings SET setting = '{}'", "setting"),
    ],
)
def test_a_difference_names_both_folders_and_merges_nothing(
    statement: str, what: str, clockwork: Clockwork, tmp_path: Path
):
    for name in ("a", "b"):
        run(plan(tmp_path / name, ["parity_check"]))
    edit(tmp_path / "b", statement)
    with pytest.raises(UsageError) as caught:
        merge([tmp_path / "a", tmp_path / "b"], tmp_path / "out")
    message = str(caught.value)
    assert str(tmp_path / "a") in message and str(tmp_path / "b") in message and what in message
    assert "chomsky/parity_check · rnn" in message
    assert not (tmp_path / "out").exists()
    before = rows(tmp_path / "a")
    with pytest.raises(UsageError, match="Nothing was merged"):
        merge([tmp_path / "b"], tmp_path / "a")
    assert rows(tmp_path / "a") == before


def test_weights_that_differ_are_named(clockwork: Clockwork, tmp_path: Path):
    for name in ("a", "b"):
        run(plan(tmp_path / name, ["parity_check"]))
    path = next((tmp_path / "b").glob("weights/*/*.weights"))
    arrays, about = checkpoints.read(path)
    checkpoints.write(path, {name: np.asarray(array) + 1 for name, array in arrays.items()}, about)
    with pytest.raises(UsageError, match=f"{path}` are weights of the same member, and differ"):
        merge([tmp_path / "a", tmp_path / "b"], tmp_path / "out")
    assert not (tmp_path / "out").exists()
    path.write_bytes(b"damaged")
    told: list[str] = []
    assert merge([tmp_path / "b", tmp_path / "a"], tmp_path / "out", told.append).weights == 2
    assert len(told) == 1 and path.name in told[0]
    assert weights(tmp_path / "out") == weights(tmp_path / "a")


def test_a_failure_gives_way_to_what_was_done(clockwork: Clockwork, tmp_path: Path):
    def fail(job) -> None:
        raise ZeroDivisionError("oh dear")

    good = run(plan(tmp_path / "good", ["parity_check"]))
    clockwork.on_train = fail
    for name in ("bad", "worse"):
        with pytest.raises(RunError):
            run(plan(tmp_path / name, ["parity_check"]))
    for order in (["good", "bad"], ["bad", "good"], ["bad", "worse", "good"]):
        out = tmp_path / "-".join(order)
        merge([tmp_path / name for name in order], out)
        assert rows(out) == rows(good.out) and Store.open(out).failures() == []


def test_results_of_version_0_1_are_merged_as_they_are(clockwork: Clockwork, tmp_path: Path):
    setting = '{"batch_size":32,"model":{"hidden_size":64},"steps":4000,"task":{}}'
    old = ("key", "chomsky", "parity_check", "rnn", "quick", setting, '{"measure":1,"model":1,"task":1}')
    write_schema_1(tmp_path / "old", old, [('{"seed":0}', "finished", '{"score":0.5}', "{}")])
    run(plan(tmp_path / "new", ["parity_check"]))
    assert merge([tmp_path / "new", tmp_path / "old"], tmp_path / "out").members == 3
    with sqlite3.connect(tmp_path / "out" / "results.db") as db:
        assert db.execute("SELECT member FROM results").fetchall() == [('{"seed":0}',)]
    db.close()
    assert merge([tmp_path / "old"], tmp_path / "out").members == 0


def test_what_is_no_folder_of_results_is_an_error_that_makes_nothing(clockwork: Clockwork, tmp_path: Path):
    run(plan(tmp_path / "a", ["parity_check"]))
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=r"no file results\.db"):
        merge([tmp_path / "a", tmp_path / "empty"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written_is_a_source_nevertheless(clockwork: Clockwork, tmp_path: Path):
    run(plan(tmp_path / "a", ["parity_check"]))
    shutil.copytree(tmp_path / "a", tmp_path / "copy")
    for path in (tmp_path / "copy", tmp_path / "copy" / "results.db"):
        path.chmod(path.stat().st_mode & 0o555)
    merge([tmp_path / "copy"], tmp_path / "out")
    (tmp_path / "copy").chmod(0o755)
    assert rows(tmp_path / "out") == rows(tmp_path / "a")
