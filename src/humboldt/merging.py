"""Joining result folders: the parts of a study that ran apart become one.

Contract: a row that is in two folders must say the same in both, but for times and machines; a failure gives way to
what was done since. All is compared before anything is written; weights are copied before the rows that speak of them.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from humboldt import checkpoints, databases
from humboldt.errors import UsageError
from humboldt.results import State
from humboldt.store import Store


@dataclass(frozen=True)
class _Table:
    """`key`: columns that say what a row is about. `same`: columns that must not differ between two folders."""

    name: str
    key: tuple[str, ...]
    same: tuple[str, ...]

    @property
    def has_state(self) -> bool:
        return "state" in self.same


TABLES = (  # in the order in which they refer to each other
    _Table("trainings", ("training",), ("suite", "task", "model", "engine", "setting", "versions", "format")),
    _Table("members", ("training", "member"), ("state", "detail")),
    _Table("evaluations", ("evaluation",), ("training", "name", "setting", "version")),
    _Table("scores", ("evaluation", "member"), ("state", "measures", "detail")),
    _Table("runs", ("run",), ("suite", "task", "model", "setting", "versions")),  # of version 0.1, as the next
    _Table("results", ("run", "member"), ("state", "measures", "detail")),
)


@dataclass(frozen=True)
class Merged:
    """What a merge has added: rows of members, and files of weights."""

    members: int
    weights: int


def merge(folders: Sequence[Path], out: Path, warn: Callable[[str], None] = lambda message: None) -> Merged:
    """Adds the results and kept weights of `folders` to those of `out`, which is made where it is missing.

    Raises a usage error that names both folders where they differ about a member; `out` is then as it was.
    """
    sources = [folder for folder in dict.fromkeys(folders) if folder.resolve() != out.resolve()]
    for folder in sources:
        Store.open(folder)  # an error for what is no store, before anything is made
    weights = _weights([out, *sources], warn)
    if not (out / "results.db").exists():  # tried elsewhere first, so that an error leaves nothing behind
        with TemporaryDirectory() as elsewhere, _rows_added(sources, Path(elsewhere)):
            pass
    with _rows_added(sources, out) as members:
        for source, target in weights:
            checkpoints.write(target, *checkpoints.read(source))
    return Merged(members, len(weights))


@contextmanager
def _rows_added(sources: Sequence[Path], out: Path) -> Iterator[int]:
    """Adds the rows of all folders, committed when the block ends. The number of members that are new."""
    path = Store(out).path
    with databases.explained(path), databases.open_to_write(path) as db:
        db.row_factory = sqlite3.Row
        db.execute("BEGIN IMMEDIATE")
        origins: dict[tuple[str, ...], Path] = {}
        yield sum(_add(db, folder, out, origins) for folder in sources)
        db.execute("COMMIT")


def _add(db: sqlite3.Connection, folder: Path, out: Path, origins: dict[tuple[str, ...], Path]) -> int:
    """The rows of one folder. `origins` remembers where rows of other folders came from."""
    source_path, added = folder / "results.db", 0
    with ExitStack() as stack:
        stack.enter_context(databases.explained(source_path))
        source = stack.enter_context(databases.open_to_read(source_path))
        source.row_factory = sqlite3.Row
        found = {row["name"]: row["sql"] for row in source.execute("SELECT name, sql FROM sqlite_master")}
        for table in TABLES:
            if table.name not in found:
                continue
            if not db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table.name,)).fetchone():
                db.execute(found[table.name])  # a table of version 0.1
            where = " AND ".join(f"{column} = ?" for column in table.key)
            for row in source.execute(f"SELECT * FROM {table.name} ORDER BY rowid"):
                key = tuple(row[column] for column in table.key)
                earlier = db.execute(f"SELECT * FROM {table.name} WHERE {where}", key).fetchone()
                if earlier is not None and not _gives_way(table, earlier, row):
                    if _gives_way(table, row, earlier):
                        continue
                    if different := [column for column in table.same if earlier[column] != row[column]]:
                        other = origins.get((table.name, *key), out)
                        raise UsageError(
                            _difference(_about(source, table, row), row, earlier, different, folder, other)
                        )
                    continue
                if earlier is not None:
                    db.execute(f"DELETE FROM {table.name} WHERE {where}", key)
                places = ", ".join("?" * len(row))
                db.execute(f"INSERT INTO {table.name} ({', '.join(row.keys())}) VALUES ({places})", tuple(row))
                origins[(table.name, *key)] = folder
                added += table.name in ("members", "results")
    return added


def _gives_way(table: _Table, earlier: sqlite3.Row, later: sqlite3.Row) -> bool:
    """Whether a row is a failure, in place of which there is something now."""
    failed = State.FAILED.value
    return table.has_state and earlier["state"] == failed != later["state"]


def _difference(
    about: str, row: sqlite3.Row, earlier: sqlite3.Row, different: Sequence[str], folder: Path, other: Path
) -> str:
    member = f", member {row['member']}" if "member" in row.keys() else ""  # noqa: SIM118  `in row` looks at values
    shown = "; ".join(f"{column}: {_short(earlier[column])} and {_short(row[column])}" for column in different)
    return (
        f"`{other}` and `{folder}` differ about {about}{member} ({shown}). The same experiment must have the same "
        "results in both. Leave one of the two folders out. Nothing was merged."
    )


def _about(db: sqlite3.Connection, table: _Table, row: sqlite3.Row) -> str:
    """Suite, task and model of a row."""
    if table.name in ("trainings", "runs"):
        return f"{row['suite']}/{row['task']} · {row['model']}"
    if table.name == "scores":
        found = db.execute("SELECT * FROM evaluations WHERE evaluation = ?", (row["evaluation"],)).fetchone()
        return f"{_about(db, TABLES[2], found)}, evaluation {found['name']}"
    whole, key = ("runs", "run") if table.name == "results" else ("trainings", "training")
    found = db.execute(f"SELECT * FROM {whole} WHERE {key} = ?", (row[key],)).fetchone()
    return f"{found['suite']}/{found['task']} · {found['model']}"


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _weights(folders: Sequence[Path], warn: Callable[[str], None]) -> list[tuple[Path, Path]]:
    """Files of weights to be copied, with where they go. The first folder is where they go."""
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
        return  # the first one is good, or it would not have been taken
    if before.keys() != after.keys() or not all(np.array_equal(before[name], after[name]) for name in before):
        raise UsageError(
            f"`{first}` and `{second}` are weights of the same member, and differ. Leave one of the two folders out. "
            "Nothing was merged."
        )
