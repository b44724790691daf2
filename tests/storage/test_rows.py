"""Rows prove that they are as they were written. Three processor seconds."""

import sqlite3
from pathlib import Path

import pytest
from pages import load, script
from store_support import change, unseal, values

from humboldt.core.identity import Evaluation, Training
from humboldt.core.results import ScoredMember, State, TrainedMember
from humboldt.errors import UsageError
from humboldt.storage.rows import COLUMNS, RowReader, digest_of
from humboldt.storage.store import Store

TRAINING = Training("chomsky", "parity_check", "rnn", "jax", {"steps": 10}, {"task": 1, "model": 1})
SCORE = Evaluation("score", {"strings": 5})


def fill(folder: Path, seeds: range = range(3), training: Training = TRAINING) -> Store:
    store = Store(folder)
    trained = [TrainedMember({"seed": seed}, State.FINISHED, 1) for seed in seeds]
    scored = [ScoredMember({"seed": seed}, State.FINISHED, {"score": seed / 4}, 2) for seed in seeds]
    store.add(training, trained, [(SCORE, scored)])
    return store


def seeds(store: Store) -> list[int]:
    return [result.member["seed"] for scores in store.scores() for result in scores.results]


def test_no_flipped_bit_changes_a_result_silently(tmp_path: Path):
    flips = script("benchmarks/bit_flips.py")
    found = [outcome for _, _, outcome in flips.outcomes(flips.make_store(tmp_path), 60, seed=1)]
    assert not {outcome for outcome in found if outcome not in ("left out", "refused", "same")}
    assert found.count("left out") > 2 and found.count("refused") > 2


def test_the_record_of_bit_flips_has_no_silent_one():
    record = load("benchmarks/records/bit_flips.json")
    assert (record["flips"], record["silent"], record["tracebacks"]) == (300, 0, 0)
    assert record["rows_left_out"] + record["refused"] + record["same"] == 300


def test_the_digest_of_a_row_is_written_down(tmp_path: Path):
    """A slow form beside the fast one: the SHA-256 of the row as JSON."""
    import hashlib
    import json

    fill(tmp_path)
    for table in COLUMNS:
        for *cells, digest in values(tmp_path, table):
            text = json.dumps([table, *cells], separators=(",", ":"))
            assert digest == hashlib.sha256(text.encode()).hexdigest()[:32] == digest_of(table, cells)
    ((_, written, digests, _),) = values(tmp_path, "totals")
    rows = [row for table in ("members", "evaluations", "scores") for row in values(tmp_path, table)]
    folded = 0
    for row in rows:
        folded ^= int(row[-1], 16)
    assert (written, int(digests, 16)) == (len(rows), folded) == (7, folded)


EDITS = {
    "a score": ("UPDATE scores SET measures = '{\"score\":0.9}' WHERE rowid = 2", "a row of scores", [0, 2]),
    "the time of a score": ("UPDATE scores SET seconds = 3 WHERE rowid = 2", "a row of scores", [0, 2]),
    "a date": ("UPDATE members SET finished_at = '2020' WHERE rowid = 1", "a row of members", [1, 2]),
    "a member": ("UPDATE members SET member = '{\"seed\":7}' WHERE rowid = 1", "a row of members", [1, 2]),
    "a state": ("UPDATE members SET state = 'diverged' WHERE rowid = 3", "a row of members", [0, 1]),
    "an evaluation": ("UPDATE evaluations SET setting = '{\"strings\":6}'", "a row of evaluations", []),
    "a training": ("UPDATE trainings SET task = 'even_pairs'", "a row of trainings", []),
    "a lost score": ("DELETE FROM scores WHERE rowid = 2", "has 6 rows, and 7 were written", [0, 2]),
    "a lost member": ("DELETE FROM members WHERE rowid = 2", "has 6 rows, and 7 were written", [0, 2]),
    "a lost digest": ("UPDATE scores SET digest = '' WHERE rowid = 2", "has 6 rows", [0, 1, 2]),
    "a lost training": ("DELETE FROM trainings", "is missing", []),
    "a lost total": ("DELETE FROM totals", "the number of rows", [0, 1, 2]),
    "another total": ("UPDATE totals SET written = 8", "does not fit its digest", [0, 1, 2]),
}


@pytest.mark.parametrize("name", EDITS)
def test_what_is_not_as_it_was_written_is_left_out_and_named(name: str, tmp_path: Path):
    statement, says, left = EDITS[name]
    fill(tmp_path)
    change(tmp_path, statement)
    store = Store.open(tmp_path)
    assert seeds(store) == left
    assert says in store.remarks[0] and "humboldt merge" in store.remarks[0]
    with pytest.raises(UsageError, match="is not as it was written"):
        store.done()
    with pytest.raises(UsageError, match="is not as it was written"):
        Store(tmp_path).scores()  # a writer goes no further


@pytest.mark.parametrize("value", ["NaN", "-Infinity", "1e999", "[1e999]", "9" * 5_000, "[" * 100_000])
@pytest.mark.parametrize("column", ["trainings.setting", "members.member", "evaluations.setting", "scores.measures"])
def test_a_number_that_is_not_finite_is_damage(column: str, value: str, tmp_path: Path):
    fill(tmp_path)
    table, name = column.split(".")
    change(tmp_path, f"UPDATE {table} SET {name} = '{{\"strings\":{value}}}' WHERE rowid = 1")
    for read in (Store.open(tmp_path).done, Store.open(tmp_path).scores, Store.open(tmp_path).failures):
        try:
            read()
        except UsageError as error:
            assert "damaged or edited" in str(error) or "is not as it was written" in str(error)


def test_a_row_in_the_place_of_another_is_noticed(tmp_path: Path):
    """A row that was intact once: its digest fits, and the number of rows, too."""
    store = Store(tmp_path)
    store.add(TRAINING, [TrainedMember({"seed": 0}, State.FAILED, detail={"error": "oh dear"})])
    (before,) = values(tmp_path, "members")
    store.add(TRAINING, [TrainedMember({"seed": 0}, State.FINISHED)])
    assert store.done()[TRAINING.key].trained
    with sqlite3.connect(tmp_path / "results.db") as db:
        db.execute("DELETE FROM members")
        db.execute(f"INSERT INTO members VALUES ({', '.join('?' * len(before))})", before)
    db.close()
    store = Store.open(tmp_path)
    assert store.scores() == [] and "other rows than were written" in store.remarks[0]


def test_many_damaged_rows_are_one_sentence(tmp_path: Path):
    fill(tmp_path, range(30))
    change(tmp_path, "UPDATE scores SET seconds = 9")
    store = Store.open(tmp_path)
    assert seeds(store) == [] and "and 25 more" in store.remarks[0] and len(store.remarks) == 1


def test_rows_without_digests_are_read_as_before_and_counted(tmp_path: Path):
    fill(tmp_path)
    unseal(tmp_path)
    before = (tmp_path / "results.db").read_bytes()
    store = Store.open(tmp_path)
    assert seeds(store) == [0, 1, 2] and len(store.done()[TRAINING.key].trained) == 3
    (remark,) = store.remarks
    assert "8 rows" in remark and "before rows had digests" in remark
    assert (tmp_path / "results.db").read_bytes() == before
    old = values(tmp_path, "scores")
    fill(tmp_path, range(2, 5))  # new rows in the same training, one of them there already
    assert [row[:-1] for row in values(tmp_path, "scores")[:3]] == list(old)
    assert [bool(row[-1]) for row in values(tmp_path, "scores")] == [False] * 3 + [True] * 2
    assert seeds(Store.open(tmp_path)) == [0, 1, 2, 3, 4]
    change(tmp_path, "DELETE FROM scores WHERE rowid = 5")
    store = Store.open(tmp_path)
    assert seeds(store) == [0, 1, 2, 3] and "has 3 rows, and 4 were written" in store.remarks[0]


def test_a_writer_adds_nothing_to_a_training_whose_number_of_rows_is_damaged(tmp_path: Path):
    store = fill(tmp_path)
    change(tmp_path, "UPDATE totals SET written = 8")
    with pytest.raises(UsageError, match="does not fit its digest"):
        store.add(TRAINING, [TrainedMember({"seed": 9}, State.FINISHED)])
    change(tmp_path, "DELETE FROM totals")
    with pytest.raises(UsageError, match="totals has no row"):
        store.add(TRAINING, [TrainedMember({"seed": 9}, State.FINISHED)])


def test_a_training_without_results_is_not_damage(tmp_path: Path):
    Store(tmp_path).add(TRAINING)
    with sqlite3.connect(tmp_path / "results.db") as db:
        reading = RowReader(db)
        (row,) = reading.trainings()
        reading.check_total(row.values[0])
        assert reading.damage == [] and reading.unchecked == 0
    db.close()
