"""Databases that tests change by hand."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from humboldt.storage.rows import COLUMNS, Total, digest_of


def seal(folder: Path) -> None:
    """Writes the digests and totals that fit what a database holds now: as if its rows had been written so."""
    with sqlite3.connect(folder / "results.db") as db:
        totals = {training: Total() for (training,) in db.execute("SELECT training FROM trainings")}
        of = dict(db.execute("SELECT evaluation, training FROM evaluations"))
        for table in ("trainings", "members", "evaluations", "scores"):
            columns = ", ".join(COLUMNS[table])
            for rowid, *values in db.execute(f"SELECT rowid, {columns} FROM {table}").fetchall():
                digest = digest_of(table, values)
                db.execute(f"UPDATE {table} SET digest = ? WHERE rowid = ?", (digest, rowid))
                if table != "trainings":
                    about = dict(zip(COLUMNS[table], values, strict=True))
                    totals[about.get("training") or of[about["evaluation"]]].add(digest)
        for training, total in totals.items():
            total.store(db, training)
    db.close()


def unseal(folder: Path) -> None:
    """A database as schema 2 had it: the same rows, without digests."""
    with sqlite3.connect(folder / "results.db") as db:
        for table in ("trainings", "members", "evaluations", "scores"):
            db.execute(f"ALTER TABLE {table} DROP COLUMN digest")
        db.execute("DROP TABLE totals")
        db.execute("PRAGMA user_version = 2")
    db.close()


def change(folder: Path, *statements: str, with_digests: bool = False) -> None:
    """Edits rows, and their digests if asked to."""
    with sqlite3.connect(folder / "results.db") as db:
        for statement in statements:
            assert db.execute(statement).rowcount
    db.close()
    if with_digests:
        seal(folder)


def values(folder: Path, table: str) -> Sequence[tuple]:
    """All rows of a table, digests included."""
    db = sqlite3.connect(folder / "results.db")
    try:
        return db.execute(f"SELECT * FROM {table} ORDER BY rowid").fetchall()
    finally:
        db.close()
