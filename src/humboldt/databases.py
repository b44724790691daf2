"""SQLite files: opened so that nothing is lost, and what is said where that does not work."""

import json
import math
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from humboldt.errors import HumboldtError, RunError, UsageError

LOCK_SECONDS = 60.0  # that a writer waits for another one
MOUNTS = Path("/proc/self/mounts")
#: Disks of other machines. A write-ahead log needs memory that all its readers and writers share, which they do not
#: have; some of them say so, others lose data.
NETWORK_DISKS = {
    *(
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "smbfs",
        "afs",
        "ncpfs",
        "lustre",
        "gpfs",
        "beegfs",
        "ceph",
        "glusterfs",
        "orangefs",
    ),
    *("fuse.sshfs", "fuse.glusterfs", "fuse.ceph", "fuse.gcsfuse", "fuse.s3fs", "fuse.rclone", "fuse.juicefs"),
}


class BadCell(Exception):
    """A cell that does not hold what its column holds: somebody has edited it, or the disk has."""


def is_on_network(path: Path) -> bool:
    """Whether a file lies on a disk of another machine, as far as this one knows."""
    try:
        mounts = [line.split()[1:3] for line in MOUNTS.read_text().splitlines()]
    except (OSError, IndexError):
        return False
    place = path.resolve()
    # Of all disks on the way the nearest counts, and of two in one place the one that was mounted last.
    kinds = {Path(folder.replace("\\040", " ")): kind for folder, kind in (m for m in mounts if len(m) == 2)}
    nearest = next((kinds[folder] for folder in (place, *place.parents) if folder in kinds), "")
    return nearest in NETWORK_DISKS


@contextmanager
def open_to_write(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection whose transactions survive a power cut. Others may read meanwhile."""
    with closing(sqlite3.connect(path, timeout=LOCK_SECONDS, isolation_level=None)) as db:
        _choose_journal(db, path)
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA foreign_keys = ON")
        yield db


def _choose_journal(db: sqlite3.Connection, path: Path) -> None:
    """A write-ahead log; a plain journal where that does not work."""
    if not is_on_network(path):
        try:
            if db.execute("PRAGMA journal_mode = WAL").fetchone()[0] == "wal":
                return
        except sqlite3.OperationalError as error:
            if _name(error).startswith(("SQLITE_BUSY", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_FULL")):
                raise
    db.execute("PRAGMA journal_mode = DELETE")


@contextmanager
def open_to_read(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that cannot write. What a killed writer has left in its journal is taken into account: in a copy,
    where the folder is read-only."""
    with tempfile.TemporaryDirectory() as copies:
        try:
            db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=LOCK_SECONDS)
            db.execute("SELECT count(*) FROM sqlite_master")
        except sqlite3.OperationalError as error:
            if _name(error).startswith("SQLITE_BUSY"):
                raise
            try:
                for name in (path.name, f"{path.name}-wal", f"{path.name}-journal"):
                    if path.with_name(name).is_file():
                        (Path(copies) / name).write_bytes(path.with_name(name).read_bytes())
            except OSError:  # it may not be read, or there is no room for a copy either
                raise error from None
            db = sqlite3.connect(Path(copies) / path.name)
        with closing(db):
            yield db


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turns what SQLite raises, and bad cells, into one sentence about what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise _explanation(path, error) from error
    except BadCell as error:
        raise UsageError(
            f"`{path}` was damaged or edited: {error}. Restore the file from a copy, or move it away. It was not "
            "changed now."
        ) from error


def _name(error: sqlite3.Error) -> str:
    return getattr(error, "sqlite_errorname", "") or ""


def _explanation(path: Path, error: sqlite3.Error) -> HumboldtError:
    name = _name(error)
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return RunError(
            f"`{path}` is in use ({error}): another program has held it for {LOCK_SECONDS:g} s. Wait until it has "
            "ended, or end it, and give the same command again."
        )
    if name.startswith(("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_NOLFS", "SQLITE_TOOBIG")):
        return RunError(
            f"`{path}` cannot be written or read: {error}. Is the disk full? What was stored before is not lost. Make "
            "room, and give the same command again."
        )
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH")):
        return UsageError(f"`{path}` cannot be opened: {error}. Choose a folder that can be read and written.")
    return UsageError(
        f"`{path}` is damaged, or is not a Humboldt database: {error}. Restore it from a copy, move it away, or choose "
        "another folder. It was not changed now."
    )


def json_object(text: Any, column: str) -> dict[str, Any]:
    """The JSON object in a cell."""
    value = json_value(text, column)
    if not isinstance(value, dict):
        raise BadCell(f"{column} holds {_short(text)}, which is not a JSON object")
    return value


def json_value(text: Any, column: str) -> Any:
    """The JSON in a cell."""
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        raise BadCell(f"{column} holds {_short(text)}, which is not JSON") from None


def number(value: Any, column: str) -> float:
    """The number in a cell."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise BadCell(f"{column} holds {_short(value)}, which is not a finite number")
    return value


def text(value: Any, column: str) -> str:
    """The text in a cell."""
    if not isinstance(value, str):
        raise BadCell(f"{column} holds {_short(value)}, which is not text")
    return value


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 40 else f"{shown[:37]}..."
