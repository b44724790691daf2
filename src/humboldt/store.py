"""Results on disk: one SQLite file, in which finished rows are never edited.

Contract: a row appears once, whole, in one transaction. Reading never sees half a result. A second process may read
while one writes. A database written by a newer schema is refused, not guessed at.
"""

import enum
import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from humboldt.errors import UsageError

SCHEMA = 1

_TABLES = """
CREATE TABLE IF NOT EXISTS runs (
    run TEXT PRIMARY KEY,      -- hash of suite, task, model, versions and the full setting
    suite TEXT NOT NULL,
    task TEXT NOT NULL,
    model TEXT NOT NULL,
    label TEXT NOT NULL,       -- the setting in a word or two, for people
    setting TEXT NOT NULL,     -- JSON: everything that can change a result, except the member
    versions TEXT NOT NULL     -- JSON: of the task, the model and the measure
);
CREATE TABLE IF NOT EXISTS results (
    run TEXT NOT NULL REFERENCES runs (run),
    member TEXT NOT NULL,      -- JSON: seed and whatever else tells members apart
    state TEXT NOT NULL,       -- finished, diverged, failed
    measures TEXT NOT NULL,    -- JSON: name -> value; empty unless finished
    detail TEXT NOT NULL,      -- JSON: curves and the like
    environment TEXT NOT NULL, -- JSON: code and library versions, device
    seconds REAL NOT NULL,     -- this member's share of the wall time
    finished_at TEXT NOT NULL,
    PRIMARY KEY (run, member)
);
"""


class State(enum.Enum):
    """How a member ended."""

    FINISHED = "finished"
    DIVERGED = "diverged"  # its loss or gradient stopped being finite
    FAILED = "failed"


@dataclass(frozen=True)
class Run:
    """One experiment's identity. Two runs with the same `key` are the same run."""

    suite: str
    task: str
    model: str
    label: str
    setting: Mapping[str, Any]
    versions: Mapping[str, int]

    @property
    def key(self) -> str:
        """Hash of everything that can change a result. The label is for people and is left out."""
        identity = [self.suite, self.task, self.model, self.setting, self.versions]
        return hashlib.sha256(canonical(identity).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Result:
    """One member's outcome."""

    member: Mapping[str, Any]
    state: State
    measures: Mapping[str, float]
    seconds: float
    detail: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.state is not State.FINISHED and self.measures:
            raise ValueError(f"A {self.state.value} member has no scores, but {dict(self.measures)} was given.")


def canonical(value: Any) -> str:
    """JSON with sorted keys and no spaces; NaN is refused, so it can never be stored as a score."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


class Store:
    """The results of one folder, `FOLDER/results.db`.

    `Store(folder)` makes the folder and the file where they are missing; `Store.open(folder)` reads only what is there.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "results.db"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with self._connect() as db:
                version = db.execute("PRAGMA user_version").fetchone()[0]
                if version == 0:
                    db.executescript(f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version = {SCHEMA}; COMMIT;")
                elif version > SCHEMA:
                    raise UsageError(
                        f"`{self.path}` has schema {version}, written by a newer Humboldt; this one knows schemas up "
                        f"to {SCHEMA}. Update Humboldt, or choose another folder with --out."
                    )
        except (OSError, sqlite3.OperationalError) as error:
            raise UsageError(
                f"Results cannot be written to `{folder}`: {error}. Choose a folder that can be written with --out."
            ) from error
        except sqlite3.DatabaseError as error:
            raise UsageError(
                f"`{self.path}` is not a Humboldt database: {error}. Move it away, or choose another folder with --out."
            ) from error

    @classmethod
    def open(cls, folder: Path) -> "Store":
        """The store of a folder that already has results."""
        if not (folder / "results.db").is_file():
            raise UsageError(
                f"There are no results in `{folder}`: it has no file results.db. "
                f"Run `humboldt run SUITE --out {folder}` first, or give the folder of an earlier run."
            )
        return cls(folder)

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.path, timeout=60, isolation_level=None)) as db:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")  # a finished row survives a power cut
            db.execute("PRAGMA foreign_keys = ON")
            yield db

    def checkpoint_folder(self, run: Run, members: Iterable[Mapping[str, Any]]) -> Path:
        """Where the half-done training of these members is kept."""
        group = hashlib.sha256(canonical(sorted(canonical(member) for member in members)).encode()).hexdigest()[:8]
        return self.folder / "checkpoints" / f"{run.key}-{group}"

    def add(self, run: Run, results: Iterable[Result]) -> None:
        """Adds results, all or none. A member that is there already is left as it is; failures are replaced."""
        rows = [
            (
                run.key,
                canonical(result.member),
                result.state.value,
                canonical(result.measures),
                canonical(result.detail),
                canonical(result.environment),
                result.seconds,
                datetime.now(UTC).isoformat(timespec="seconds"),
            )
            for result in results
        ]
        described = (
            run.key,
            run.suite,
            run.task,
            run.model,
            run.label,
            canonical(run.setting),
            canonical(run.versions),
        )
        with self._connect() as db:
            db.execute("BEGIN IMMEDIATE")
            db.execute("INSERT OR IGNORE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)", described)
            db.execute("DELETE FROM results WHERE run = ? AND state = 'failed'", (run.key,))
            db.executemany("INSERT OR IGNORE INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
            db.execute("COMMIT")

    def finished(self, run: Run) -> set[str]:
        """The members of a run that need not be trained again, as canonical JSON. Failed ones are tried again."""
        with self._connect() as db:
            found = db.execute("SELECT member FROM results WHERE run = ? AND state != 'failed'", (run.key,))
            return {member for (member,) in found}

    def runs(self, suite: str | None = None) -> list[tuple[Run, list[Result]]]:
        """All runs with their results, oldest first."""
        with self._connect() as db:
            found = db.execute("SELECT run, suite, task, model, label, setting, versions FROM runs ORDER BY rowid")
            pairs = []
            for key, run_suite, task, model, label, setting, versions in found.fetchall():
                if suite not in (None, run_suite):
                    continue
                results = db.execute(
                    "SELECT member, state, measures, detail, environment, seconds FROM results WHERE run = ? "
                    "ORDER BY rowid",
                    (key,),
                )
                run = Run(run_suite, task, model, label, json.loads(setting), json.loads(versions))
                pairs.append((run, [_result(*row) for row in results.fetchall()]))
            return pairs


def _result(member: str, state: str, measures: str, detail: str, environment: str, seconds: float) -> Result:
    return Result(
        member=json.loads(member),
        state=State(state),
        measures=json.loads(measures),
        seconds=seconds,
        detail=json.loads(detail),
        environment=json.loads(environment),
    )
