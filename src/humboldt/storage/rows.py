"""The tables of a store, and digests that detect changed rows.

Every row ends with a digest of its table's name and all its other columns. For each training, a row of `totals` holds
the number of rows (of members, evaluations and scores) that were written with a digest, and the exclusive or of these
digests, so that lost, doubled or exchanged rows are also detected. Rows that were written before schema 3 have no
digest.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from humboldt.storage.databases import BadCell

SCHEMA = 3
APPLICATION = 0x48554D42  # "HUMB": marks files of Humboldt
DIGEST_CHARACTERS = 32  # hexadecimal: 128 bits
MOST_NAMED = 5  # most rows in a message about damage

_TABLES = """
CREATE TABLE IF NOT EXISTS trainings (
    training TEXT PRIMARY KEY, -- hash of everything that can change a weight, except the member
    suite TEXT NOT NULL,
    task TEXT NOT NULL,
    model TEXT NOT NULL,
    engine TEXT NOT NULL,
    setting TEXT NOT NULL,     -- JSON
    versions TEXT NOT NULL,    -- JSON: of the task and the model
    format INTEGER NOT NULL,   -- how the suite wrote the setting; see `upgrade`
    digest TEXT NOT NULL DEFAULT ''
);
CREATE TABLE IF NOT EXISTS members (
    training TEXT NOT NULL REFERENCES trainings (training),
    member TEXT NOT NULL,      -- JSON: seed and whatever else tells members apart
    state TEXT NOT NULL,       -- finished, diverged, failed
    detail TEXT NOT NULL,      -- JSON: curves and the like
    environment TEXT NOT NULL, -- JSON: code and library versions, device
    seconds REAL NOT NULL,     -- this member's share of the wall time of training
    finished_at TEXT NOT NULL,
    digest TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (training, member)
);
CREATE TABLE IF NOT EXISTS evaluations (
    evaluation TEXT PRIMARY KEY, -- hash of the training, the name, the setting and the version
    training TEXT NOT NULL REFERENCES trainings (training),
    name TEXT NOT NULL,
    setting TEXT NOT NULL,       -- JSON: everything that can change a score, but no weight
    version TEXT NOT NULL,       -- JSON: of the measure
    digest TEXT NOT NULL DEFAULT ''
);
CREATE TABLE IF NOT EXISTS scores (
    evaluation TEXT NOT NULL REFERENCES evaluations (evaluation),
    member TEXT NOT NULL,
    state TEXT NOT NULL,       -- finished, failed
    measures TEXT NOT NULL,    -- JSON: name -> value; empty unless finished
    detail TEXT NOT NULL,      -- JSON: curves and the like
    seconds REAL NOT NULL,     -- this member's share of the wall time of scoring
    finished_at TEXT NOT NULL,
    digest TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (evaluation, member)
);
CREATE TABLE IF NOT EXISTS totals (
    training TEXT PRIMARY KEY REFERENCES trainings (training),
    written INTEGER NOT NULL,  -- rows of this training with a digest
    digests TEXT NOT NULL,     -- all of these digests, by exclusive or
    digest TEXT NOT NULL
);
"""

COLUMNS = {  # without the digest; each table after those that it refers to
    "trainings": ("training", "suite", "task", "model", "engine", "setting", "versions", "format"),
    "members": ("training", "member", "state", "detail", "environment", "seconds", "finished_at"),
    "evaluations": ("evaluation", "training", "name", "setting", "version"),
    "scores": ("evaluation", "member", "state", "measures", "detail", "seconds", "finished_at"),
    "totals": ("training", "written", "digests"),
}

_encode = json.JSONEncoder(separators=(",", ":")).encode


def digest_of(table: str, values: Sequence[Any]) -> str:
    """Returns the digest of a row without its last column.

    >>> digest_of("totals", ["a", 1, "b"]) == digest_of("totals", ["a", 1, "c"])
    False
    """
    try:
        return hashlib.sha256(_encode([table, *values]).encode()).hexdigest()[:DIGEST_CHARACTERS]
    except TypeError:  # bytes, which no column has
        return "none"


def prepare(db: sqlite3.Connection) -> None:
    """Creates missing tables, and columns that earlier versions did not have. Does not change rows."""
    db.execute("BEGIN IMMEDIATE")
    for statement in _TABLES.split(";\n"):
        db.execute(statement)
    for table in COLUMNS:
        if not has_digests(db, table):
            db.execute(f"ALTER TABLE {table} ADD COLUMN digest TEXT NOT NULL DEFAULT ''")
    db.execute(f"PRAGMA user_version = {SCHEMA}")
    db.execute(f"PRAGMA application_id = {APPLICATION}")
    db.execute("COMMIT")


def has_digests(db: sqlite3.Connection, table: str) -> bool:
    """Returns whether the rows of a table can have a digest."""
    return "digest" in {column[1] for column in db.execute(f"PRAGMA table_info({table})")}


def insert(db: sqlite3.Connection, table: str, values: Sequence[Any], digest: str | None = None) -> str:
    """Adds a row if there is none with the same key. Returns the digest of the new row, or an empty text.

    `digest` is that of a row that was read from another file, which may have none.
    """
    digest = digest_of(table, values) if digest is None else digest
    columns = (*COLUMNS[table], "digest")
    statement = f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
    return digest if db.execute(statement, (*values, digest)).rowcount else ""


def delete_failed(db: sqlite3.Connection, table: str, key: str, member: str) -> str:
    """Removes the failure of a member of a training or evaluation. Returns its digest, or an empty text."""
    where = f"{COLUMNS[table][0]} = ? AND member = ? AND state = 'failed'"
    row = db.execute(f"SELECT digest FROM {table} WHERE {where}", (key, member)).fetchone()
    if row is None:
        return ""
    db.execute(f"DELETE FROM {table} WHERE {where}", (key, member))
    return row[0]


@dataclass
class Total:
    """The number of rows of a training with a digest, and the exclusive or of these digests."""

    written: int = 0
    digests: int = 0

    def add(self, digest: str) -> None:
        """Counts a row that was written; one without a digest is not counted."""
        self._change(digest, 1)

    def remove(self, digest: str) -> None:
        """Counts a row that was removed."""
        self._change(digest, -1)

    def _change(self, digest: str, step: int) -> None:
        if digest:
            self.written += step
            self.digests ^= int(digest, 16)

    @classmethod
    def stored(cls, db: sqlite3.Connection, training: str) -> "Total":
        """Reads the total of a training from the file."""
        row = db.execute("SELECT written, digests, digest FROM totals WHERE training = ?", (training,)).fetchone()
        if row is None:
            sealed = db.execute("SELECT digest FROM trainings WHERE training = ?", (training,)).fetchone()
            if sealed is not None and sealed[0]:
                raise BadCell(f"totals has no row for the training {training}")
            return cls()
        *values, digest = row
        if digest_of("totals", (training, *values)) != digest:
            raise BadCell(f"totals: the row of the training {training} does not fit its digest")
        return cls(values[0], int(values[1], 16))

    def store(self, db: sqlite3.Connection, training: str) -> None:
        """Writes the total to the file, replacing the previous one."""
        values = (training, self.written, f"{self.digests:0{DIGEST_CHARACTERS}x}")
        db.execute("INSERT OR REPLACE INTO totals VALUES (?, ?, ?, ?)", (*values, digest_of("totals", values)))


class Row(NamedTuple):
    """The values of a row in the order of `COLUMNS`, its digest, and whether that fits; a missing digest counts as
    fitting."""

    values: tuple[Any, ...]
    digest: str
    fits: bool


class RowReader:
    """Reads rows of a file and checks them.

    - `damage`: a phrase for each detected change.
    - `unchecked`: the number of rows without a digest.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self.damage: list[str] = []
        self.unchecked = 0
        self._db = db
        self._has_digests = {table: has_digests(db, table) for table in COLUMNS}
        self._titles: dict[str, str] = {}  # of trainings
        self._training_of: dict[str, str] = {}  # by evaluation
        self._sealed: set[str] = set()  # trainings that were written with a digest
        self._seen: dict[str, Total] = {}
        self._unfit: set[str] = set()  # trainings with a row that does not fit
        # Without the index: a damaged index would hide a training.
        is_there = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'totals'").fetchone()
        self._totals = {row.values[0]: row for row in self._select("totals", "")} if is_there else {}

    def trainings(self) -> Iterator[Row]:
        """Yields all trainings. A total without its training counts as damage."""
        present = set()
        for row in self._select("trainings", "NOT INDEXED ORDER BY rowid"):
            key, suite, task, model = row.values[:4]
            self._titles[key] = f"{suite}/{task} · {model}"
            if row.digest:
                self._sealed.add(key)
            self._count("trainings", row, key, key)
            present.add(key)
            yield row
        self.damage += [f"the training {key} is missing" for key in self._totals if key not in present]

    def members(self, training: str) -> Iterator[Row]:
        """Yields the members of a training. Call `check_total` after its evaluations and scores were also read."""
        return self._rows("members", "training", training, training)

    def evaluations(self, training: str) -> list[Row]:
        """Returns the evaluations of a training."""
        return list(self._rows("evaluations", "training", training, training))

    def scores(self, training: str, evaluation: str) -> Iterator[Row]:
        """Yields the scores of a training's members under one of its evaluations."""
        return self._rows("scores", "evaluation", evaluation, training)

    def whole_table(self, table: str) -> Iterator[Row]:
        """Yields all rows of a table. Read the tables that it refers to first, and call `check_totals` at the end."""
        for row in self.trainings() if table == "trainings" else self._select(table, "NOT INDEXED ORDER BY rowid"):
            key = row.values[0]
            if table == "evaluations":
                self._training_of[key] = row.values[1]
            if table != "trainings":
                self._count(table, row, key, key if table == "members" else self._training_of.get(key, ""))
            yield row

    def check_total(self, key: str) -> None:
        """Compares the rows of a training that were read with its total."""
        seen, title = self._seen.get(key, Total()), self._titles.get(key, key)
        row = self._totals.get(key)
        if row is None:
            if seen.written or key in self._sealed:
                self.damage.append(f"the number of rows of {title} is missing")
            return
        if not row.fits or not row.digest:
            self.damage.append(f"the number of rows of {title} does not fit its digest")
            return
        _, written, digests = row.values
        if written != seen.written:
            self.damage.append(f"{title} has {seen.written:,} rows, and {written:,} were written")
        elif int(digests, 16) != seen.digests and key not in self._unfit:
            self.damage.append(f"{title} has other rows than were written")

    def check_totals(self) -> None:
        """Compares the rows of all trainings that were read with their totals."""
        for key in self._titles:
            self.check_total(key)

    def sentences(self, path: object, way_out: str) -> list[str]:
        """Returns remarks on damaged and unchecked rows, for users."""
        told = []
        if self.damage:
            shown = "; ".join(self.damage[:MOST_NAMED])
            more = f"; and {len(self.damage) - MOST_NAMED} more" if len(self.damage) > MOST_NAMED else ""
            told.append(f"`{path}` is not as it was written: {shown}{more}. {way_out}")
        if self.unchecked:
            told.append(
                f"{self.unchecked:,} rows of `{path}` were written before rows had digests, so that damage to them "
                "would not be noticed."
            )
        return told

    def _rows(self, table: str, column: str, value: str, training: str) -> Iterator[Row]:
        for row in self._select(table, f"WHERE {column} = ? ORDER BY rowid", value):
            self._count(table, row, row.values[0], training)
            yield row

    def _select(self, table: str, rest: str, *arguments: str) -> Iterator[Row]:
        columns = (*COLUMNS[table], "digest" if self._has_digests[table] else "''")
        for *values, digest in self._db.execute(f"SELECT {', '.join(columns)} FROM {table} {rest}", arguments):
            yield Row(tuple(values), digest, digest in ("", digest_of(table, values)))

    def _count(self, table: str, row: Row, key: str, training: str) -> None:
        if not row.digest:
            self.unchecked += 1
        elif table != "trainings":
            self._seen.setdefault(training, Total()).add(row.digest if row.fits else "0")
        if not row.fits:
            self._unfit.add(training)
            of = self._titles.get(training, training)
            which = row.values[1] if table in ("members", "scores") else key
            self.damage.append(f"a row of {table} does not fit its digest ({of}, {which}) and is left out")
