"""Opens SQLite files durably; turns SQLite errors into messages."""

import json
import math
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

from humboldt.errors import HumboldtError, RunError, UsageError

LOCK_SECONDS = 60.0  # for which a writer waits for another one
MOUNTS = Path("/proc/self/mounts")
#: Disks of other machines. A write-ahead log needs memory that all its readers and writers share, which they do not
#: have; some of them report an error, others lose data.
NETWORK_DISKS = {
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
    "fuse.sshfs",
    "fuse.glusterfs",
    "fuse.ceph",
    "fuse.gcsfuse",
    "fuse.s3fs",
    "fuse.rclone",
    "fuse.juicefs",
}


class BadCell(Exception):
    """A cell with a value of the wrong kind: it was edited, or the disk is damaged."""


def is_on_network(path: Path) -> bool:
    """Returns whether a file is on a network disk, as far as this machine knows."""
    try:
        mounts = [line.split()[1:3] for line in MOUNTS.read_text().splitlines()]
    except (OSError, IndexError):
        return False
    place = path.resolve()
    # The innermost mount point decides; of two mounts at one point, the later one.
    kinds = {Path(folder.replace("\\040", " ")): kind for folder, kind in (m for m in mounts if len(m) == 2)}
    nearest = next((kinds[folder] for folder in (place, *place.parents) if folder in kinds), "")
    return nearest in NETWORK_DISKS


@contextmanager
def open_to_write(path: Path) -> Iterator[sqlite3.Connection]:
    """Yields a connection whose transactions survive a power cut. Other processes may read meanwhile."""
    with closing(sqlite3.connect(path, timeout=LOCK_SECONDS, isolation_level=None)) as db:
        _choose_journal(db, path)
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA foreign_keys = ON")
        yield db


def _choose_journal(db: sqlite3.Connection, path: Path) -> None:
    """Chooses a write-ahead log, or a plain journal if that does not work."""
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
    """Yields a read-only connection. It includes transactions that a killed writer left in the journal; in a read-only
    folder, this needs a temporary copy of the file."""
    with ExitStack() as stack:
        try:
            db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=LOCK_SECONDS)
            db.execute("SELECT count(*) FROM sqlite_master")
        except sqlite3.OperationalError as error:
            if _name(error).startswith("SQLITE_BUSY"):
                raise
            try:
                copies = stack.enter_context(tempfile.TemporaryDirectory())
                for name in (path.name, f"{path.name}-wal", f"{path.name}-journal"):
                    if path.with_name(name).is_file():
                        (Path(copies) / name).write_bytes(path.with_name(name).read_bytes())
            except OSError:  # the file is not readable, or there is no room for a copy
                raise error from None
            db = sqlite3.connect(Path(copies) / path.name)
        with closing(db):
            db.execute("PRAGMA temp_store = MEMORY")
            yield db


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turns errors of SQLite, and bad cells, into messages with the fix."""
    try:
        yield
    except sqlite3.Error as error:
        raise _explanation(path, error) from error
    except (MemoryError, UnicodeDecodeError, OverflowError) as error:  # damaged lengths or messages
        raise UsageError(
            f"`{path}` is damaged: {error or 'a length in it does not fit into memory'}. Restore it from a copy, or "
            "move it away. It was not changed."
        ) from error
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
            "ended, or end it, then run the same command again."
        )
    if name.startswith(("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_NOLFS", "SQLITE_TOOBIG")):
        return RunError(
            f"`{path}` cannot be written or read: {error}. Is the disk full? What was stored before is not lost. Make "
            "room, then run the same command again."
        )
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH")):
        return UsageError(f"`{path}` cannot be opened: {error}. Choose a folder that can be read and written.")
    return UsageError(
        f"`{path}` is damaged, or is not a Humboldt database: {error}. Restore it from a copy, move it away, or choose "
        "another folder. It was not changed."
    )


def json_object(text: Any, column: str) -> dict[str, Any]:
    """Returns the JSON object in a cell."""
    value = json_value(text, column)
    if not isinstance(value, dict):
        raise BadCell(f"{column} holds {short(text)}, which is not a JSON object")
    return value


def json_value(text: Any, column: str) -> Any:
    """Returns the JSON value in a cell."""
    try:
        return _DECODER.decode(text)
    except (TypeError, ValueError, RecursionError):
        raise BadCell(f"{column} holds {short(text)}, which is not JSON of finite numbers") from None


def _finite(text: str) -> float:
    """Returns a number of JSON text; raises for one that is not finite, which Python reads (`NaN`, `1e999`)."""
    if math.isfinite(value := float(text)):
        return value
    raise ValueError(f"{text} is not finite")


_DECODER = json.JSONDecoder(parse_constant=_finite, parse_float=_finite)


def number(value: Any, column: str) -> float:
    """Returns the number in a cell."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not _is_finite(value):
        raise BadCell(f"{column} holds {short(value)}, which is not a finite number")
    return value


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer of more than 308 digits
        return False


def text(value: Any, column: str) -> str:
    """Returns the text in a cell."""
    if not isinstance(value, str):
        raise BadCell(f"{column} holds {short(value)}, which is not text")
    return value


def short(value: Any) -> str:
    """Returns a value as text of at most 40 characters."""
    shown = repr(value)
    return shown if len(shown) <= 40 else f"{shown[:37]}..."
