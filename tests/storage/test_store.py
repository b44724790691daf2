"""The promise of a store: what is finished is never edited, reading never writes, what is not ours is refused."""

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from humboldt.core.identity import Evaluation, Training, canonical
from humboldt.core.results import ScoredMember, State, TrainedMember
from humboldt.errors import UsageError
from humboldt.storage.rows import SCHEMA
from humboldt.storage.store import Done, Store, Written, checkpoint_folder, weights_path

TRAINING = Training("chomsky", "parity_check", "rnn", "jax", {"steps": 10, "lengths": [1, 40]}, {"task": 1, "model": 1})
SCORE = Evaluation("score", {"strings": 5})
ONE, TWO = {"seed": 1}, {"seed": 2}


def trained(member: dict, state: State = State.FINISHED, **options) -> TrainedMember:
    return TrainedMember(member, state, 1.0, **options)


def scored(member: dict, score: float = 0.5) -> ScoredMember:
    return ScoredMember(member, State.FINISHED, {"score": score})


def states(store: Store) -> list[tuple[dict, State]]:
    return [(dict(result.member), result.state) for scores in store.scores() for result in scores.results]


class StoreContract:
    """A class that makes a store with `make` inherits all of these tests."""

    def make(self, folder: Path) -> Store:
        raise NotImplementedError

    def test_what_was_added_comes_back(self, tmp_path: Path):
        member = TrainedMember(ONE, State.FINISHED, 1.5, {"curve": [0.1]}, {"jax": "1"})
        score = ScoredMember(ONE, State.FINISHED, {"score": 0.25}, 0.5, {"lengths": [1, 2]})
        self.make(tmp_path).add(TRAINING, [member], [(SCORE, [score])])
        (found,) = self.make(tmp_path).scores()
        assert (found.training, found.evaluation) == (TRAINING, SCORE)
        assert found.training.key == TRAINING.key
        (result,) = found.results
        assert (result.member, result.state, result.measures) == (ONE, State.FINISHED, {"score": 0.25})
        assert (result.seconds, result.environment) == (2.0, {"jax": "1"})
        assert result.detail == {"curve": [0.1], "lengths": [1, 2]}

    def test_finished_rows_are_never_edited_nor_doubled(self, tmp_path: Path):
        store = self.make(tmp_path)
        store.add(TRAINING, [trained(ONE, detail={"by": "first"})], [(SCORE, [scored(ONE, 0.5)])])
        store.add(
            TRAINING, [trained(ONE, detail={"by": "second"}), trained(TWO)], [(SCORE, [scored(ONE, 0.9), scored(TWO)])]
        )
        store.add(TRAINING, [trained(ONE, State.FAILED), trained(TWO, State.DIVERGED)])
        (found,) = store.scores()
        assert [(r.measures["score"], r.detail) for r in found.results] == [(0.5, {"by": "first"}), (0.5, {})]

    def test_a_failure_is_replaced_by_that_members_result_only(self, tmp_path: Path):
        store = self.make(tmp_path)
        failed = [trained(member, State.FAILED, detail={"error": "..."}) for member in (ONE, TWO)]
        store.add(TRAINING, failed, [(SCORE, [])])
        assert store.done().get(TRAINING.key, Done()).trained == {}
        store.add(TRAINING, [trained(ONE)], [(SCORE, [scored(ONE)])])
        assert states(store) == [(TWO, State.FAILED), (ONE, State.FINISHED)]
        assert [failure.member for failure in store.failures()] == [TWO]

    def test_a_failed_score_is_replaced_by_that_members_score_only(self, tmp_path: Path):
        store = self.make(tmp_path)
        failed = [ScoredMember(member, State.FAILED, detail={"error": "oh dear"}) for member in (ONE, TWO)]
        store.add(TRAINING, [trained(ONE), trained(TWO)], [(SCORE, failed)])
        assert set(store.done()[TRAINING.key].trained) == {canonical(ONE), canonical(TWO)}
        assert store.done()[TRAINING.key].scored == {}
        store.add(TRAINING, scored=[(SCORE, [scored(TWO)])])
        assert states(store) == [(ONE, State.FAILED), (TWO, State.FINISHED)]
        ((failure),) = store.failures()
        assert (failure.suite, failure.task, failure.member, failure.error) == (
            *("chomsky", "parity_check"),
            ONE,
            "oh dear",
        )

    def test_a_diverged_member_is_done_and_shown_under_every_evaluation(self, tmp_path: Path):
        store = self.make(tmp_path)
        other = Evaluation("other")
        store.add(
            TRAINING, [trained(ONE, State.DIVERGED), trained(TWO)], [(SCORE, [scored(TWO)]), (other, [scored(TWO)])]
        )
        assert store.done()[TRAINING.key].trained[canonical(ONE)] is State.DIVERGED
        assert states(store) == [(ONE, State.DIVERGED), (TWO, State.FINISHED)] * 2

    def test_a_member_that_was_not_asked_about_has_no_score_there(self, tmp_path: Path):
        store = self.make(tmp_path)
        store.add(TRAINING, [trained(ONE), trained(TWO)], [(SCORE, [scored(ONE)])])
        assert states(store) == [(ONE, State.FINISHED)]
        done = store.done()[TRAINING.key]
        assert done.scored == {SCORE.key_for(TRAINING): {canonical(ONE)}} and len(done.trained) == 2

    def test_another_evaluation_of_the_same_training_stands_beside_it(self, tmp_path: Path):
        store = self.make(tmp_path)
        store.add(TRAINING, [trained(ONE)], [(SCORE, [scored(ONE, 0.1)])])
        newer = Evaluation("score", {"strings": 5}, version=2)
        store.add(TRAINING, scored=[(newer, [scored(ONE, 0.2)])])
        found = {scores.evaluation.version: scores.results[0].measures["score"] for scores in store.scores()}
        assert found == {1: 0.1, 2: 0.2}
        assert set(store.done()[TRAINING.key].scored) == {SCORE.key_for(TRAINING), newer.key_for(TRAINING)}

    def test_all_or_none(self, tmp_path: Path):
        store = self.make(tmp_path)
        with pytest.raises(ValueError):
            store.add(TRAINING, [trained(ONE)], [(SCORE, [scored(ONE), scored(TWO, float("nan"))])])
        assert store.scores() == [] and store.done() == {}

    def test_results_of_one_suite(self, tmp_path: Path):
        store = self.make(tmp_path)
        store.add(TRAINING, [trained(ONE)], [(SCORE, [scored(ONE)])])
        assert store.scores("bliss") == [] and len(store.scores("chomsky")) == 1
        assert store.failures("chomsky") == []


class TestSQLite(StoreContract):
    def make(self, folder: Path) -> Store:
        return Store(folder)


def test_only_finished_members_have_scores():
    with pytest.raises(ValueError, match="diverged"):
        ScoredMember(ONE, State.DIVERGED, {"score": 0.5})


def test_settings_are_upgraded_when_they_are_read_and_the_rows_stay(tmp_path: Path):
    Store(tmp_path).add(TRAINING, [trained(ONE)], [(SCORE, [scored(ONE)])], format=7)
    with sqlite3.connect(tmp_path / "results.db") as db:
        before = db.execute("SELECT * FROM trainings").fetchall()

    def upgrade(written: Written) -> Training:
        assert written.format == 7
        setting = written.training.setting
        return replace(written.training, setting={**setting, "renamed": setting["steps"]})

    store = Store(tmp_path, upgrade)
    (found,) = store.scores()
    assert found.training.setting["renamed"] == 10
    assert list(store.done()) == [found.training.key]
    assert store.done()[found.training.key].scored == {SCORE.key_for(found.training): {canonical(ONE)}}
    with sqlite3.connect(tmp_path / "results.db") as db:
        assert db.execute("SELECT * FROM trainings").fetchall() == before


def test_what_two_rows_say_of_the_same_member_stands_once(tmp_path: Path):
    other = Training(**{**{name: getattr(TRAINING, name) for name in Training.__dataclass_fields__}, "engine": "x"})
    store = Store(tmp_path)
    for training, score in ((TRAINING, 0.1), (other, 0.2)):
        store.add(training, [trained(ONE)], [(SCORE, [scored(ONE, score)])])
    same = Store(tmp_path, lambda written: TRAINING)
    (found,) = same.scores()
    assert [result.measures["score"] for result in found.results] == [0.1]  # the older one


def test_a_newer_schema_is_refused_and_left_alone(tmp_path: Path):
    Store(tmp_path)
    with sqlite3.connect(tmp_path / "results.db") as db:
        db.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    before = (tmp_path / "results.db").read_bytes()
    for make in (Store, Store.open):
        with pytest.raises(UsageError, match=f"schema {SCHEMA + 1}, written by a newer Humboldt"):
            make(tmp_path)
    assert (tmp_path / "results.db").read_bytes() == before


@pytest.mark.parametrize("version", [0, 1, 2])
def test_the_database_of_another_program_is_refused_and_left_alone(tmp_path: Path, version: int):
    with sqlite3.connect(tmp_path / "results.db") as db:
        db.execute("CREATE TABLE bookmarks (address TEXT)")
        db.execute(f"PRAGMA user_version = {version}")
    before = (tmp_path / "results.db").read_bytes()
    for make in (Store, Store.open):
        with pytest.raises(UsageError, match="not a Humboldt database: it belongs to another program"):
            make(tmp_path)
    assert (tmp_path / "results.db").read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"results.db"}


def test_a_file_that_is_no_database_is_refused(tmp_path: Path):
    (tmp_path / "results.db").write_text("hello " * 1000)
    for make in (Store, Store.open):
        with pytest.raises(UsageError, match="is not a Humboldt database"):
            make(tmp_path)
    assert (tmp_path / "results.db").read_text() == "hello " * 1000


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
    assert Store(tmp_path).scores() == []


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}


def with_leftover_log(folder: Path, source: Path) -> None:
    """A copy as a killed process leaves it: the newest rows are in the write-ahead log only."""
    store = Store(source)
    store.add(TRAINING, [trained(ONE)], [(SCORE, [scored(ONE)])])
    with sqlite3.connect(store.path) as keeps_the_log:
        keeps_the_log.execute("SELECT * FROM trainings").fetchall()
        store.add(TRAINING, [trained(TWO)], [(SCORE, [scored(TWO)])])
        folder.mkdir()
        for name in ("results.db", "results.db-wal"):
            (folder / name).write_bytes((source / name).read_bytes())
    assert (folder / "results.db-wal").stat().st_size > 0


def test_reading_writes_nothing(tmp_path: Path):
    Store(tmp_path).add(TRAINING, [trained(ONE)], [(SCORE, [scored(ONE)])])
    before = contents(tmp_path)
    store = Store.open(tmp_path)
    assert states(store) == [(ONE, State.FINISHED)] and len(store.done()) == 1 and store.failures() == []
    assert contents(tmp_path)["results.db"] == before["results.db"]
    with pytest.raises(UsageError, match="readonly"):
        store.add(TRAINING, [trained(TWO)])


def test_what_a_killed_process_left_in_its_log_is_shown(tmp_path: Path):
    with_leftover_log(tmp_path / "copy", tmp_path / "source")
    assert [member for member, _ in states(Store.open(tmp_path / "copy"))] == [ONE, TWO]


def test_a_read_only_copy_with_a_leftover_log_is_shown_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """SQLite must write beside a log that it reads. Root may write anywhere, so the refusal is made by hand."""
    folder = tmp_path / "copy"
    with_leftover_log(folder, tmp_path / "source")
    before = contents(folder)
    real = sqlite3.connect

    def connect(database, *arguments, **options):
        if str(folder) in str(database):
            raise sqlite3.OperationalError("unable to open database file")
        return real(database, *arguments, **options)

    monkeypatch.setattr(sqlite3, "connect", connect)
    folder.chmod(0o555)
    try:
        assert [member for member, _ in states(Store.open(folder))] == [ONE, TWO]
    finally:
        folder.chmod(0o755)
    assert contents(folder) == before


def test_one_may_read_while_another_writes(tmp_path: Path):
    store = Store(tmp_path)
    store.add(TRAINING, [trained(ONE)], [(SCORE, [scored(ONE)])])
    with sqlite3.connect(store.path, isolation_level=None) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DELETE FROM scores")
        assert states(Store.open(tmp_path)) == [(ONE, State.FINISHED)]  # half a transaction is not seen
        writer.execute("ROLLBACK")


def test_places_of_checkpoints_and_weights_follow_from_settings(tmp_path: Path):
    first, turned = (checkpoint_folder(tmp_path, TRAINING, members) for members in ([ONE, TWO], [TWO, ONE]))
    assert first == turned != checkpoint_folder(tmp_path, TRAINING, [ONE])
    assert weights_path(tmp_path, TRAINING, ONE) != weights_path(tmp_path, TRAINING, TWO)
    assert weights_path(tmp_path, TRAINING, ONE).parent.name == TRAINING.key


def test_a_file_of_version_0_1_is_refused_and_left_alone(tmp_path: Path):
    with sqlite3.connect(tmp_path / "results.db") as db:
        db.execute("CREATE TABLE runs (run TEXT PRIMARY KEY)")
        db.execute("CREATE TABLE results (run TEXT)")
        db.execute("PRAGMA user_version = 1")
    before = contents(tmp_path)["results.db"]
    for make in (Store, Store.open):
        with pytest.raises(UsageError, match=r"written by Humboldt 0\.1"):
            make(tmp_path)
    assert contents(tmp_path)["results.db"] == before
