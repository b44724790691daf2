"""Merges result folders: joins the parts of a study that ran separately.

Contract: a row that is in two folders must be equal in both, except for times and machines; a failure is replaced by a
later result; damaged rows are left out with a warning. Everything is compared before anything is written; weights are
copied before the rows that refer to them.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from humboldt.core.results import State
from humboldt.errors import UsageError
from humboldt.storage import checkpoints, databases, rows
from humboldt.storage.store import Store

#: Columns that identify a row, and columns that must not differ between two folders.
KEYS = {
    "trainings": ("training",),
    "members": ("training", "member"),
    "evaluations": ("evaluation",),
    "scores": ("evaluation", "member"),
}
SAME = {
    "trainings": ("suite", "task", "model", "engine", "setting", "versions", "format"),
    "members": ("state", "detail"),
    "evaluations": ("training", "name", "setting", "version"),
    "scores": ("state", "measures", "detail"),
}


@dataclass(frozen=True)
class Merged:
    """The additions of a merge: rows of members, and files of weights."""

    members: int
    weights: int


def merge(folders: Sequence[Path], out: Path, warn: Callable[[str], None] = lambda message: None) -> Merged:
    """Adds the results and saved weights of `folders` to those of `out`, which is created if it is missing.

    Raises a usage error that names both folders if they differ about a member; `out` is then unchanged.
    """
    sources = [folder for folder in dict.fromkeys(folders) if folder.resolve() != out.resolve()]
    for folder in sources:
        Store.open(folder)  # raises for a folder that is not a store, before anything is created
    weights = _weights([out, *sources], warn)
    if (out / "results.db").exists():
        Store.open(out).done()  # raises if one of its rows is damaged
    else:  # tried elsewhere first, so that an error leaves nothing behind
        with TemporaryDirectory() as elsewhere, _rows_added(sources, Path(elsewhere), lambda message: None):
            pass
    with _rows_added(sources, out, warn) as members:
        for source, target in weights:
            checkpoints.write(target, *checkpoints.read(source))
    return Merged(members, len(weights))


@contextmanager
def _rows_added(sources: Sequence[Path], out: Path, warn: Callable[[str], None]) -> Iterator[int]:
    """Adds the rows of all folders, committed when the block ends. Yields the number of new members."""
    path = Store(out).path
    with databases.explained(path), databases.open_to_write(path) as db:
        db.row_factory = sqlite3.Row
        db.execute("BEGIN IMMEDIATE")
        target = _Target(db, out)
        yield sum(target.add(folder, warn) for folder in sources)
        target.store_totals()
        db.execute("COMMIT")


class _Target:
    """The database to which rows are added, with the origins and digests of its rows."""

    def __init__(self, db: sqlite3.Connection, out: Path) -> None:
        self._db, self._out = db, out
        self._origins: dict[tuple[str, ...], Path] = {}  # of rows from other folders
        self._totals: dict[str, rows.Total] = {}

    def add(self, folder: Path, warn: Callable[[str], None]) -> int:
        """Adds the rows of one folder, except damaged ones and those that refer to these. Returns the number of
        members."""
        source_path, added, without = folder / "results.db", 0, 0
        with databases.explained(source_path), databases.open_to_read(source_path) as source:
            reading = rows.RowReader(source)
            for table in KEYS:
                for row in reading.whole_table(table):
                    if row.fits and self._has_parent(table, row):
                        is_new = self._add_row(source, table, row, folder)
                        added += is_new and table == "members"
                    else:
                        without += row.fits
            reading.check_totals()
        if reading.damage:
            also = f" {without:,} rows that belong to them are left out, too." if without else ""
            warn(reading.sentences(source_path, f"The intact rows are merged.{also}")[0])
        return added

    def store_totals(self) -> None:
        """Writes the current number of rows of each training."""
        for training, total in self._totals.items():
            total.store(self._db, training)

    def _has_parent(self, table: str, row: rows.Row) -> bool:
        """Returns whether the row that this one refers to was added."""
        if table == "trainings":
            return True
        parent, place = ("evaluations", 0) if table == "scores" else ("trainings", table == "evaluations")
        return self._find(parent, (row.values[place],)) is not None

    def _find(self, table: str, key: Sequence[Any]) -> sqlite3.Row | None:
        where = " AND ".join(f"{column} = ?" for column in KEYS[table])
        return self._db.execute(f"SELECT * FROM {table} WHERE {where}", key).fetchone()

    def _add_row(self, source: sqlite3.Connection, table: str, row: rows.Row, folder: Path) -> bool:
        """Adds a row; raises a usage error if there is a different one with the same key. Returns whether it is new."""
        columns = dict(zip(rows.COLUMNS[table], row.values, strict=True))
        key = tuple(columns[column] for column in KEYS[table])
        earlier = self._find(table, key)
        if earlier is not None and not _gives_way(earlier, columns):
            if not _gives_way(columns, earlier):
                different = [column for column in SAME[table] if earlier[column] != columns[column]]
                if different:
                    other = self._origins.get((table, *key), self._out)
                    raise UsageError(
                        _difference(_about(source, table, columns), columns, earlier, different, folder, other)
                    )
            return False
        if table == "trainings":
            self._total(key[0])
        if table == "scores":
            parent = self._find("evaluations", key[:1])
            assert parent is not None
            total = self._total(parent["training"])
        else:
            total = self._total(columns["training"])
        if earlier is not None:
            total.remove(rows.delete_failed(self._db, table, key[0], key[1]))
        digest = rows.insert(self._db, table, row.values, row.digest)
        if table != "trainings":
            total.add(digest)
        self._origins[(table, *key)] = folder
        return True

    def _total(self, training: str) -> rows.Total:
        if training not in self._totals:
            self._totals[training] = rows.Total.stored(self._db, training)
        return self._totals[training]


def _gives_way(earlier: Mapping[str, Any] | sqlite3.Row, later: Mapping[str, Any] | sqlite3.Row) -> bool:
    """Returns whether a row is a failure that a later row replaces."""
    failed = State.FAILED.value
    return "state" in earlier.keys() and earlier["state"] == failed != later["state"]  # noqa: SIM118


def _difference(
    about: str,
    row: Mapping[str, Any],
    earlier: sqlite3.Row,
    different: Sequence[str],
    folder: Path,
    other: Path,
) -> str:
    member = f", member {row['member']}" if "member" in row else ""
    shown = "; ".join(f"{column}: {_short(earlier[column])} and {_short(row[column])}" for column in different)
    return (
        f"`{other}` and `{folder}` differ about {about}{member} ({shown}). The same experiment must have the same "
        "results in both. Leave one of the two folders out. Nothing was merged."
    )


def _about(db: sqlite3.Connection, table: str, row: Mapping[str, Any]) -> str:
    """Returns suite, task and model of a row as text."""
    if table == "scores":
        evaluation = db.execute(
            "SELECT training, name FROM evaluations WHERE evaluation = ?", (row["evaluation"],)
        ).fetchone()
        return f"{_about(db, 'evaluations', {'training': evaluation[0]})}, evaluation {evaluation[1]}"
    suite, task, model = db.execute(
        "SELECT suite, task, model FROM trainings WHERE training = ?", (row["training"],)
    ).fetchone()
    return f"{suite}/{task} · {model}"


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _weights(folders: Sequence[Path], warn: Callable[[str], None]) -> list[tuple[Path, Path]]:
    """Returns the files of weights to copy, each with its target in the first folder."""
    known: dict[Path, Path] = {}
    copied = []
    for number, folder in enumerate(folders):
        for path in sorted(folder.glob("weights/*/*.weights")):
            place = path.relative_to(folder)
            if place in known:
                _check_same(known[place], path)
                continue
            try:
                checkpoints.read(path)
            except checkpoints.Damaged as error:  # the member is trained again when it is needed
                warn(f"Weights are left out: {error}")
                continue
            known[place] = path
            if number:
                copied.append((path, folders[0] / place))
    return copied


def _check_same(first: Path, second: Path) -> None:
    if first.read_bytes() == second.read_bytes():
        return
    try:
        (before, _), (after, _) = checkpoints.read(first), checkpoints.read(second)
    except checkpoints.Damaged:
        return  # the first one is not damaged, or it would have been left out
    if before.keys() != after.keys() or not all(np.array_equal(before[name], after[name]) for name in before):
        raise UsageError(
            f"`{first}` and `{second}` are weights of the same member, and differ. Leave one of the two folders out. "
            "Nothing was merged."
        )
