import sqlite3
from pathlib import Path

import pytest

from humboldt.errors import UsageError
from humboldt.store import SCHEMA, Result, Run, State, Store, canonical

RUN = Run("chomsky", "parity_check", "rnn", "quick", {"steps": 10, "lengths": [1, 40]}, {"task": 1})


def finished(seed: int, score: float = 0.5) -> Result:
    return Result({"seed": seed}, State.FINISHED, {"score": score}, 1.0)


class StoreContract:
    """The promise of a store. A class that makes one with `make` inherits all of these tests."""

    def make(self, folder: Path) -> Store:
        raise NotImplementedError

    def test_what_was_added_comes_back(self, tmp_path: Path):
        result = Result({"seed": 1}, State.FINISHED, {"score": 0.25}, 1.5, {"curve": [0.1]}, {"jax": "1"})
        self.make(tmp_path).add(RUN, [result])
        ((run, results),) = self.make(tmp_path).runs()
        assert run == RUN and run.key == RUN.key and results == [result]

    def test_finished_rows_are_never_edited_nor_doubled(self, tmp_path: Path):
        store = self.make(tmp_path)
        store.add(RUN, [finished(1, 0.5)])
        store.add(RUN, [finished(1, 0.9), finished(2, 0.7)])
        ((_, results),) = store.runs()
        assert [result.measures["score"] for result in results] == [0.5, 0.7]
        assert store.finished(RUN) == {canonical({"seed": 1}), canonical({"seed": 2})}

    def test_a_failed_member_is_tried_again_and_replaced(self, tmp_path: Path):
        store = self.make(tmp_path)
        store.add(RUN, [Result({"seed": 1}, State.FAILED, {}, 0.0, {"error": "..."})])
        assert store.finished(RUN) == set()
        store.add(RUN, [finished(1)])
        ((_, results),) = store.runs()
        assert [result.state for result in results] == [State.FINISHED]

    def test_a_diverged_member_is_done(self, tmp_path: Path):
        store = self.make(tmp_path)
        store.add(RUN, [Result({"seed": 1}, State.DIVERGED, {}, 0.0)])
        assert store.finished(RUN) == {canonical({"seed": 1})}

    def test_all_or_none(self, tmp_path: Path):
        store = self.make(tmp_path)
        bad = Result({"seed": 2}, State.FINISHED, {"score": float("nan")}, 1.0)
        with pytest.raises(ValueError):
            store.add(RUN, [finished(1), bad])
        assert store.runs() == []

    def test_runs_of_one_suite(self, tmp_path: Path):
        store = self.make(tmp_path)
        store.add(RUN, [finished(1)])
        assert store.runs("bliss") == [] and len(store.runs("chomsky")) == 1


class TestSQLite(StoreContract):
    def make(self, folder: Path) -> Store:
        return Store(folder)


def test_the_key_is_the_setting_and_not_the_label():
    assert Run(**{**vars(RUN), "label": "other"}).key == RUN.key
    assert Run(**{**vars(RUN), "setting": {"steps": 11, "lengths": [1, 40]}}).key != RUN.key
    assert Run(**{**vars(RUN), "versions": {"task": 2}}).key != RUN.key


def test_only_finished_members_have_scores():
    with pytest.raises(ValueError, match="diverged"):
        Result({"seed": 1}, State.DIVERGED, {"score": 0.5}, 1.0)


def test_a_newer_schema_is_refused_and_left_alone(tmp_path: Path):
    Store(tmp_path)
    with sqlite3.connect(tmp_path / "results.db") as db:
        db.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    before = (tmp_path / "results.db").read_bytes()
    with pytest.raises(UsageError, match=f"schema {SCHEMA + 1}, written by a newer Humboldt"):
        Store(tmp_path)
    assert (tmp_path / "results.db").read_bytes() == before


def test_a_file_that_is_no_database_is_refused(tmp_path: Path):
    (tmp_path / "results.db").write_text("hello " * 1000)
    with pytest.raises(UsageError, match="is not a Humboldt database"):
        Store(tmp_path)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        Store(tmp_path / "file" / "results")


def test_open_wants_results(tmp_path: Path):
    with pytest.raises(UsageError, match=r"no file results\.db"):
        Store.open(tmp_path)
    assert not any(tmp_path.iterdir())


def test_two_may_make_a_new_folder_at_once(tmp_path: Path):
    first = Store(tmp_path)
    with sqlite3.connect(first.path) as db:
        db.execute("PRAGMA user_version = 0")  # what the second one read just before the first one wrote
    assert Store(tmp_path).runs() == []
