"""What tests compare of two result folders."""

import sqlite3
from pathlib import Path


def rows(folder: Path) -> list[tuple]:
    """All that must be the same: everything but seconds and dates."""
    with sqlite3.connect(folder / "results.db") as db:
        found = [
            *db.execute("SELECT * FROM trainings"),
            *db.execute("SELECT training, member, state, detail, environment FROM members"),
            *db.execute("SELECT * FROM evaluations"),
            *db.execute("SELECT evaluation, member, state, measures, detail FROM scores"),
        ]
    db.close()
    return sorted(found)


def weights(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.glob("weights/*/*.weights")}
