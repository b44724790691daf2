"""Joining result folders."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from engine_support import Clockwork
from merging_support import rows, weights
from store_support import change, unseal
from suite_support import TINY, Recording

import humboldt
from humboldt.errors import RunError, UsageError
from humboldt.running.study import Study
from humboldt.storage import checkpoints
from humboldt.storage.merging import merge
from humboldt.storage.store import Store

TASKS = ["parity_check", "even_pairs", "cycle_navigation", "reverse_string"]


def plan(out: Path, tasks: list[str] = TASKS, seeds: int = 2, **settings) -> Study:
    changes = {**TINY, "strings_per_length": 10, **settings}
    return humboldt.plan("chomsky", tasks=tasks, models="rnn", preset="paper", seeds=seeds, settings=changes, out=out)


def run(study: Study) -> Study:
    study.run(lambda experiment: Recording(), keep="all")
    return study


def without_times(study: Study) -> str:
    return study.table().partition("chomsky, paper: seconds of 1,000 steps")[0]


def test_two_halves_are_the_whole(clockwork: Clockwork, tmp_path: Path):
    whole = run(plan(tmp_path / "whole"))
    ids = [experiment.id for experiment in whole.experiments]
    for half, chosen in (("a", ids[:2]), ("b", ids[1:])):  # one of them in both
        run(plan(tmp_path / half).only(chosen))
    done = merge([tmp_path / "a", tmp_path / "b"], tmp_path / "out")
    assert (done.members, done.weights) == (8, 8)
    assert rows(tmp_path / "out") == rows(tmp_path / "whole")
    assert weights(tmp_path / "out") == weights(tmp_path / "whole") and len(weights(tmp_path / "out")) == 8
    assert plan(tmp_path / "out").pending() == [] and without_times(plan(tmp_path / "out")) == without_times(whole)
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
    change(tmp_path / "b", statement, with_digests=True)
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


def test_damaged_rows_are_left_out_with_a_warning(clockwork: Clockwork, tmp_path: Path):
    study = run(plan(tmp_path / "a", ["parity_check"]))
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    change(tmp_path / "b", """UPDATE scores SET measures = '{"score":0.25}' WHERE member LIKE '%"seed":1%'""")
    told: list[str] = []
    assert merge([tmp_path / "b"], tmp_path / "out", told.append).members == 2
    assert len(told) == 1 and "a row of scores does not fit its digest" in told[0]
    (scores,) = Store.open(tmp_path / "out").scores()
    assert [result.member["seed"] for result in scores.results] == [0]
    (left,) = plan(tmp_path / "out", ["parity_check"]).pending()  # what is missing can be done now
    assert [member["seed"] for member in left.members] == [1]
    merge([tmp_path / "a"], tmp_path / "out")
    assert rows(tmp_path / "out") == rows(tmp_path / "a") and Store.open(tmp_path / "out").remarks == []
    with pytest.raises(UsageError, match="not as it was written"):
        merge([tmp_path / "a"], tmp_path / "b")
    change(tmp_path / "b", "UPDATE trainings SET task = 'even_pairs'")
    told.clear()
    assert merge([tmp_path / "b"], tmp_path / "none", told.append).members == 0
    assert "4 rows that belong to them are left out, too" in told[0] and study.table()


def test_rows_without_digests_are_merged_without_them(clockwork: Clockwork, tmp_path: Path):
    run(plan(tmp_path / "a", ["parity_check"], seeds=1))
    run(plan(tmp_path / "b", ["parity_check"], seeds=2))
    unseal(tmp_path / "a")
    merge([tmp_path / "a", tmp_path / "b"], tmp_path / "out")
    store = Store.open(tmp_path / "out")
    assert len(store.scores()[0].results) == 2
    (remark,) = store.remarks
    assert "4 rows" in remark and "before rows had digests" in remark


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
