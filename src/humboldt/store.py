"""Results on disk: one SQLite file, in which finished rows are never edited.

Contract: a row appears once, whole, in one transaction. Reading never sees half a result, and never writes. A second
process may read while one writes. A file written by a newer schema, or by another program, is refused, not guessed at.
Settings that were renamed since are upgraded in memory when they are read; the rows stay as they were written.
"""

import enum
import json
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from humboldt.errors import UsageError
from humboldt.identity import Evaluation, Member, Training, canonical, short_hash

SCHEMA = 2
APPLICATION = 0x48554D42  # "HUMB": tells our files from those of other programs

_TABLES = """
CREATE TABLE IF NOT EXISTS trainings (
    training TEXT PRIMARY KEY, -- hash of everything that can change a weight, except the member
    suite TEXT NOT NULL,
    task TEXT NOT NULL,
    model TEXT NOT NULL,
    engine TEXT NOT NULL,
    setting TEXT NOT NULL,     -- JSON
    versions TEXT NOT NULL,    -- JSON: of the task and the model
    format INTEGER NOT NULL    -- how the suite wrote the setting; see `upgrade`
);
CREATE TABLE IF NOT EXISTS members (
    training TEXT NOT NULL REFERENCES trainings (training),
    member TEXT NOT NULL,      -- JSON: seed and whatever else tells members apart
    state TEXT NOT NULL,       -- finished, diverged, failed
    detail TEXT NOT NULL,      -- JSON: curves and the like
    environment TEXT NOT NULL, -- JSON: code and library versions, device
    seconds REAL NOT NULL,     -- this member's share of the wall time of training
    finished_at TEXT NOT NULL,
    PRIMARY KEY (training, member)
);
CREATE TABLE IF NOT EXISTS evaluations (
    evaluation TEXT PRIMARY KEY, -- hash of the training, the name, the setting and the version
    training TEXT NOT NULL REFERENCES trainings (training),
    name TEXT NOT NULL,
    setting TEXT NOT NULL,       -- JSON: everything that can change a score, but no weight
    version TEXT NOT NULL        -- JSON: of the measure
);
CREATE TABLE IF NOT EXISTS scores (
    evaluation TEXT NOT NULL REFERENCES evaluations (evaluation),
    member TEXT NOT NULL,
    state TEXT NOT NULL,       -- finished, failed
    measures TEXT NOT NULL,    -- JSON: name -> value; empty unless finished
    detail TEXT NOT NULL,      -- JSON: curves and the like
    seconds REAL NOT NULL,     -- this member's share of the wall time of scoring
    finished_at TEXT NOT NULL,
    PRIMARY KEY (evaluation, member)
);
"""


class State(enum.Enum):
    """How a member ended."""

    FINISHED = "finished"
    DIVERGED = "diverged"  # its loss or gradient stopped being finite
    FAILED = "failed"


@dataclass(frozen=True)
class TrainedMember:
    """What the store keeps of one member's training."""

    member: Member
    state: State
    seconds: float = 0.0
    detail: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ScoredMember:
    """What the store keeps of one member under one evaluation."""

    member: Member
    state: State
    measures: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    detail: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.state is not State.FINISHED and self.measures:
            raise ValueError(f"A {self.state.value} member has no scores, but {dict(self.measures)} was given.")


@dataclass(frozen=True)
class Result:
    """One member under one evaluation, as tables read it: its training and its scores together."""

    member: Member
    state: State
    measures: Mapping[str, float]
    seconds: float
    detail: Mapping[str, Any]
    environment: Mapping[str, str]


@dataclass(frozen=True)
class Scores:
    """All members of one training under one evaluation. Members that diverged or failed are among them."""

    training: Training
    evaluation: Evaluation
    results: tuple[Result, ...]


@dataclass(frozen=True)
class Written:
    """The description of a training as it was written: by this version, or by an earlier one. `format` says how the
    suite wrote the setting; format 1 held those of the evaluation, too, and no engine."""

    training: Training
    format: int


Upgrade = Callable[[Written], tuple[Training, Evaluation | None]]
"""What a written description means today. An evaluation comes back for rows of schema 1 alone."""


def as_written(written: Written) -> tuple[Training, Evaluation | None]:
    """The upgrade that changes nothing."""
    return written.training, None


@dataclass(frozen=True)
class Failure:
    """One member that failed, with the traceback."""

    suite: str
    task: str
    model: str
    member: Member
    error: str


@dataclass(frozen=True)
class Done:
    """Members of one training, as canonical JSON: how their training ended, and who is scored, by evaluation."""

    trained: dict[str, State] = field(default_factory=dict)
    scored: dict[str, set[str]] = field(default_factory=dict)


class _Row(NamedTuple):
    """Where a training stands in the file, and what it means today."""

    key: str  # as written
    is_old: bool  # in the tables of schema 1
    training: Training
    evaluation: Evaluation | None


def checkpoint_folder(folder: Path, training: Training, members: Iterable[Member]) -> Path:
    """Where the half-done training of these members is kept."""
    group = short_hash(sorted(canonical(member) for member in members), 8)
    return folder / "checkpoints" / f"{training.key}-{group}"


def weights_path(folder: Path, training: Training, member: Member) -> Path:
    """Where a trained member is kept."""
    return folder / "weights" / training.key / f"{short_hash(member)}.weights"


class Store:
    """The results of one folder, `FOLDER/results.db`.

    `Store(folder)` makes the folder and the file where they are missing; `Store.open(folder)` reads only what is there.
    """

    def __init__(self, folder: Path, upgrade: Upgrade = as_written) -> None:
        self.folder = folder
        self.path = folder / "results.db"
        self._upgrade = upgrade
        self._read_only = False
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if self.path.exists():  # asked before anything is written, if it is only the mode of the journal
                with self._connect_to_read() as db:
                    self._check(db)
            self._prepare()
        except (OSError, sqlite3.OperationalError) as error:
            raise UsageError(
                f"Results cannot be written to `{folder}`: {error}. Choose a folder that can be written with --out."
            ) from error
        except sqlite3.DatabaseError as error:
            raise UsageError(
                f"`{self.path}` is not a Humboldt database: {error}. Move it away, or choose another folder with --out."
            ) from error

    @classmethod
    def open(cls, folder: Path, upgrade: Upgrade = as_written) -> "Store":
        """The store of a folder that already has results, for reading only."""
        store = cls.__new__(cls)
        store.folder, store.path, store._upgrade, store._read_only = folder, folder / "results.db", upgrade, True
        if not store.path.is_file():
            raise UsageError(
                f"There are no results in `{folder}`: it has no file results.db. "
                f"Run `humboldt run SUITE --out {folder}` first, or give the folder of an earlier run."
            )
        try:
            with store._connect() as db:
                store._check(db)
        except sqlite3.DatabaseError as error:
            raise UsageError(
                f"`{store.path}` is not a Humboldt database: {error}. Give the folder of a run."
            ) from error
        return store

    def _prepare(self) -> None:
        with self._connect() as db:
            version = self._check(db)
            if version < SCHEMA:  # the tables of schema 1 stay as they are, and are read from then on
                marks = f"PRAGMA user_version = {SCHEMA}; PRAGMA application_id = {APPLICATION};"
                db.executescript(f"BEGIN IMMEDIATE; {_TABLES} {marks} COMMIT;")

    def _check(self, db: sqlite3.Connection) -> int:
        """The file's schema; an error if it is not ours, or newer than this program."""
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version > SCHEMA:
            raise UsageError(
                f"`{self.path}` has schema {version}, written by a newer Humboldt; this one knows schemas up "
                f"to {SCHEMA}. Update Humboldt, or choose another folder with --out."
            )
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if tables and not tables >= ({"runs", "results"} if version == 1 else {"trainings", "members"}):
            raise sqlite3.DatabaseError("it belongs to another program")
        return version

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        if self._read_only:
            with self._connect_to_read() as db:
                yield db
            return
        with closing(sqlite3.connect(self.path, timeout=60, isolation_level=None)) as db:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")  # a finished row survives a power cut
            db.execute("PRAGMA foreign_keys = ON")
            yield db

    @contextmanager
    def _connect_to_read(self) -> Iterator[sqlite3.Connection]:
        """A connection that cannot write. What a killed run has left in its log is read, too: from a copy, where the
        folder is read-only."""
        with tempfile.TemporaryDirectory() as copies:
            try:
                db = sqlite3.connect(f"{self.path.resolve().as_uri()}?mode=ro", uri=True, timeout=60)
                db.execute("SELECT count(*) FROM sqlite_master")
            except sqlite3.OperationalError:
                for path in (self.path, self.path.with_name("results.db-wal")):
                    if path.is_file():
                        (Path(copies) / path.name).write_bytes(path.read_bytes())
                db = sqlite3.connect(Path(copies) / self.path.name)
            with closing(db):
                yield db

    def add(
        self,
        training: Training,
        trained: Iterable[TrainedMember] = (),
        scored: Iterable[tuple[Evaluation, Iterable[ScoredMember]]] = (),
        *,
        format: int = 1,
    ) -> None:
        """Adds results, all or none. What is there already is left as it is; a member's own failure is replaced."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._connect() as db:
            db.execute("BEGIN IMMEDIATE")
            db.execute(
                "INSERT OR IGNORE INTO trainings VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(training.key, training.suite, training.task, training.model, training.engine),
                    *(canonical(training.setting), canonical(training.versions), format),
                ),
            )
            for result in trained:
                member = canonical(result.member)
                texts = result.state.value, canonical(result.detail), canonical(result.environment)
                db.execute(
                    "DELETE FROM members WHERE training = ? AND member = ? AND state = 'failed'", (training.key, member)
                )
                db.execute(
                    "INSERT OR IGNORE INTO members VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (training.key, member, *texts, result.seconds, now),
                )
            for evaluation, results in scored:
                key = evaluation.key_for(training)
                about = training.key, evaluation.name, canonical(evaluation.setting), canonical(evaluation.version)
                db.execute("INSERT OR IGNORE INTO evaluations VALUES (?, ?, ?, ?, ?)", (key, *about))
                for result in results:
                    member = canonical(result.member)
                    texts = result.state.value, canonical(result.measures), canonical(result.detail)
                    db.execute(
                        "DELETE FROM scores WHERE evaluation = ? AND member = ? AND state = 'failed'", (key, member)
                    )
                    db.execute(
                        "INSERT OR IGNORE INTO scores VALUES (?, ?, ?, ?, ?, ?, ?)",
                        (key, member, *texts, result.seconds, now),
                    )
            db.execute("COMMIT")

    def done(self) -> dict[str, "Done"]:
        """What need not be done again, by the key of the training. Failures are tried again."""
        all_done: dict[str, Done] = {}
        with self._connect() as db:
            for row in self._rows(db):
                done = all_done.setdefault(row.training.key, Done())
                table, column = ("results", "run") if row.is_old else ("members", "training")
                states = db.execute(
                    f"SELECT member, state FROM {table} WHERE {column} = ? AND state != 'failed'", (row.key,)
                ).fetchall()
                done.trained.update({member: State(state) for member, state in states})
                if row.is_old:
                    if row.evaluation is not None:
                        key = row.evaluation.key_for(row.training)
                        done.scored.setdefault(key, set()).update(member for member, _ in states)
                    continue
                scored = db.execute(
                    "SELECT name, setting, version, member FROM scores JOIN evaluations USING (evaluation) "
                    "WHERE training = ? AND state != 'failed'",
                    (row.key,),
                )
                for name, setting, version, member in scored.fetchall():
                    key = Evaluation(name, json.loads(setting), json.loads(version)).key_for(row.training)
                    done.scored.setdefault(key, set()).add(member)
        return all_done

    def scores(self, suite: str | None = None) -> list[Scores]:
        """All evaluations with their members, oldest first. What two rows say of the same member stands once."""
        by_key: dict[str, Scores] = {}
        with self._connect() as db:
            for row in self._rows(db):
                if suite not in (None, row.training.suite):
                    continue
                for scores in _old_scores(db, row) if row.is_old else _scores(db, row):
                    key = scores.evaluation.key_for(scores.training)
                    earlier = by_key.get(key, Scores(scores.training, scores.evaluation, ()))
                    by_key[key] = Scores(scores.training, scores.evaluation, _merged(earlier.results, scores.results))
        return list(by_key.values())

    def failures(self, suite: str | None = None) -> list["Failure"]:
        """What failed and was not done since, in training or in scoring."""
        done, failures = self.done(), []
        with self._connect() as db:
            for row in self._rows(db):
                training = row.training
                if suite not in (None, training.suite):
                    continue
                table, column = ("results", "run") if row.is_old else ("members", "training")
                failed = db.execute(
                    f"SELECT member, detail FROM {table} WHERE {column} = ? AND state = 'failed'", (row.key,)
                ).fetchall()
                failed = [(member, detail) for member, detail in failed if member not in done[training.key].trained]
                if not row.is_old:
                    failed += db.execute(
                        "SELECT member, scores.detail FROM scores JOIN evaluations USING (evaluation) "
                        "WHERE training = ? AND state = 'failed'",
                        (row.key,),
                    ).fetchall()
                about = training.suite, training.task, training.model
                failures += [
                    Failure(*about, json.loads(member), json.loads(detail).get("error", ""))
                    for member, detail in failed
                ]
        return failures

    def _rows(self, db: sqlite3.Connection) -> list[_Row]:
        rows = []
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if "runs" in tables:
            old = db.execute("SELECT run, suite, task, model, setting, versions FROM runs ORDER BY rowid")
            for key, suite, task, model, setting, versions in old.fetchall():
                training = Training(suite, task, model, "", json.loads(setting), json.loads(versions))
                rows.append(_Row(key, True, *self._upgrade(Written(training, 1))))
        if "trainings" in tables:
            new = db.execute("SELECT * FROM trainings ORDER BY rowid")
            for key, suite, task, model, engine, setting, versions, format_ in new.fetchall():
                training = Training(suite, task, model, engine, json.loads(setting), json.loads(versions))
                rows.append(_Row(key, False, *self._upgrade(Written(training, format_))))
        return rows


def _merged(earlier: Iterable[Result], later: Iterable[Result]) -> tuple[Result, ...]:
    """Every member once: as it was first finished, or as it failed last."""
    by_member: dict[str, Result] = {}
    for result in (*earlier, *later):
        key = canonical(result.member)
        if key not in by_member or by_member[key].state is State.FAILED:
            by_member[key] = result
    return tuple(by_member.values())


def _old_scores(db: sqlite3.Connection, row: _Row) -> list[Scores]:
    found = db.execute(
        "SELECT member, state, measures, detail, environment, seconds FROM results WHERE run = ? ORDER BY rowid",
        (row.key,),
    )
    results = [
        Result(
            json.loads(member), State(state), json.loads(measures), seconds, json.loads(detail), json.loads(environment)
        )
        for member, state, measures, detail, environment, seconds in found.fetchall()
    ]
    evaluation = row.evaluation or Evaluation("unknown")
    return [Scores(row.training, evaluation, tuple(results))]


def _scores(db: sqlite3.Connection, row: _Row) -> list[Scores]:
    members = db.execute(
        "SELECT member, state, detail, environment, seconds FROM members WHERE training = ? ORDER BY rowid", (row.key,)
    ).fetchall()
    found = []
    evaluations = db.execute(
        "SELECT evaluation, name, setting, version FROM evaluations WHERE training = ? ORDER BY rowid", (row.key,)
    )
    for key, name, setting, version in evaluations.fetchall():
        scored = {
            member: (State(state), json.loads(measures), json.loads(detail), seconds)
            for member, state, measures, detail, seconds in db.execute(
                "SELECT member, state, measures, detail, seconds FROM scores WHERE evaluation = ?", (key,)
            )
        }
        results = []
        for member, trained, detail, environment, seconds in members:
            state, own = State(trained), json.loads(detail)
            if state is State.FINISHED:
                if member not in scored:  # trained, but not asked about yet
                    continue
                state, measures, more, extra = scored[member]
                seconds, own = seconds + extra, {**own, **more}
            else:
                measures = {}
            results.append(Result(json.loads(member), state, measures, seconds, own, json.loads(environment)))
        found.append(Scores(row.training, Evaluation(name, json.loads(setting), json.loads(version)), tuple(results)))
    return found
