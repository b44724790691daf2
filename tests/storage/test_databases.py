"""SQLite files: which journal they get, and what is said when something goes wrong."""

import sqlite3
from pathlib import Path

import pytest

from humboldt.errors import RunError, UsageError
from humboldt.storage import databases
from humboldt.storage.databases import BadCell, explained, is_on_network, open_to_read, open_to_write
from humboldt.storage.store import Store

MOUNTS = """\
/dev/vda / ext4 rw 0 0
server:/home /home nfs4 rw 0 0
/dev/vdb /home/local\\040disk ext4 rw 0 0
//server/share /mnt/share cifs rw 0 0
broken line
me@server: /mnt/ssh fuse.sshfs rw 0 0
"""


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/var/results.db", False),
        ("/home/me/results.db", True),
        ("/home/local disk/results.db", False),
        ("/homestead/results.db", False),
        ("/mnt/share/a/b/results.db", True),
        ("/mnt/ssh/results.db", True),
    ],
)
def test_disks_of_other_machines_are_known_by_their_kind(
    path: str, expected: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "mounts").write_text(MOUNTS)
    monkeypatch.setattr(databases, "MOUNTS", tmp_path / "mounts")
    assert is_on_network(Path(path)) is expected


def test_without_a_list_of_disks_none_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(databases, "MOUNTS", tmp_path / "nowhere")
    assert not is_on_network(tmp_path)


def journal(path: Path) -> str:
    with open_to_write(path) as db:
        db.execute("CREATE TABLE IF NOT EXISTS numbers (number)")
        db.execute("INSERT INTO numbers VALUES (1)")
        return db.execute("PRAGMA journal_mode").fetchone()[0]


def test_a_network_disk_gets_a_plain_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    here, there = tmp_path / "here.db", tmp_path / "there.db"
    assert journal(here) == "wal"
    monkeypatch.setattr(databases, "is_on_network", lambda path: True)
    assert journal(there) == "delete" and not list(tmp_path.glob("there.db-*"))
    assert journal(here) == "delete"  # moved there
    with open_to_read(here) as db:
        assert db.execute("SELECT count(*) FROM numbers").fetchone() == (2,)
    store = Store(tmp_path / "store")
    assert store.scores() == [] and not list((tmp_path / "store").glob("*-wal"))


def test_a_disk_that_refuses_a_log_gets_a_plain_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    class NoLog(sqlite3.Connection):
        def execute(self, sql: str, *arguments):
            if "WAL" in sql:
                raise sqlite3.OperationalError("locking protocol")
            return super().execute(sql, *arguments)

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **o: connect(*a, **{"factory": NoLog, **o}))
    assert journal(tmp_path / "results.db") == "delete"


@pytest.mark.parametrize(
    ("name", "kind", "says"),
    [
        ("SQLITE_BUSY", RunError, "is in use"),
        ("SQLITE_FULL", RunError, "Is the disk full?"),
        ("SQLITE_IOERR_WRITE", RunError, "Is the disk full?"),
        ("SQLITE_READONLY_DIRECTORY", UsageError, "cannot be opened"),
        ("SQLITE_CANTOPEN", UsageError, "cannot be opened"),
        ("SQLITE_CORRUPT", UsageError, "is damaged"),
        ("", UsageError, "is damaged"),
    ],
)
def test_every_error_has_its_sentence(name: str, kind: type[Exception], says: str, tmp_path: Path):
    error = sqlite3.OperationalError("oh dear")
    error.sqlite_errorname = name
    with pytest.raises(kind, match=says), explained(tmp_path / "results.db"):
        raise error


def test_a_cell_is_named():
    for read, value in (
        (databases.json_object, "[]"),
        (databases.json_value, "{"),
        (databases.json_value, 1.5j),
        (databases.number, "1"),
        (databases.number, float("nan")),
        (databases.number, True),
        (databases.text, b"a"),
    ):
        with pytest.raises(BadCell, match=r"members\.detail holds"):
            read(value, "members.detail")
    assert databases.json_object('{"a": 1}', "x") == {"a": 1} and databases.number(2, "x") == 2
