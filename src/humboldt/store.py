"""Results on disk: one SQLite file, in which finished rows are never edited.

Contract: a row appears once, whole, in one transaction. Reading never sees half a result, and never writes. A second
process may read while one writes. A file written by a newer schema, or by another program, is refused, not guessed at.
Settings that were renamed since are upgraded in memory when they are read; the rows stay as they were written.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from humboldt import databases
from humboldt.databases import BadCell, json_object, json_value, number, text
from humboldt.errors import UsageError
from humboldt.identity import Evaluation, Member, Training, canonical, short_hash
from humboldt.results import Result, ScoredMember, Scores, State, TrainedMember

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

    def __or__(self, other: "Done") -> "Done":
        """What either says."""
        keys = {**self.scored, **other.scored}
        scored = {key: self.scored.get(key, set()) | other.scored.get(key, set()) for key in keys}
        return Done({**self.trained, **other.trained}, scored)


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
        self._open = databases.open_to_write
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if self.path.is_dir():
                raise IsADirectoryError(f"`{self.path}` is a folder, and should be a file")
        except OSError as error:
            raise UsageError(
                f"Results cannot be written to `{folder}`: {error}. Choose a folder that can be written with --out."
            ) from error
        with databases.explained(self.path):
            if self.path.exists():  # asked before anything is written, if it is only the mode of the journal
                with databases.open_to_read(self.path) as db:
                    self._check(db)
            self._prepare()

    @classmethod
    def open(cls, folder: Path, upgrade: Upgrade = as_written) -> "Store":
        """The store of a folder that already has results, for reading only."""
        store = cls.__new__(cls)
        store.folder, store.path, store._upgrade = folder, folder / "results.db", upgrade
        store._open = databases.open_to_read
        try:
            is_there = store.path.is_file()
        except OSError as error:
            raise UsageError(f"`{folder}` cannot be read: {error}. Give the folder of a run.") from error
        if not is_there:
            raise UsageError(
                f"There are no results in `{folder}`: it has no file results.db. "
                f"Run `humboldt run SUITE --out {folder}` first, or give the folder of an earlier run."
            )
        with store._connect() as db:
            store._check(db)
            if not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                raise UsageError(f"There are no results in `{folder}`: its file results.db is empty.")
        return store

    def _prepare(self) -> None:
        with self._connect() as db:
            version = self._check(db)
            if version < SCHEMA:  # the tables of schema 1 stay as they are, and are read from then on
                marks = f"PRAGMA user_version = {SCHEMA}; PRAGMA application_id = {APPLICATION};"
                db.executescript(f"BEGIN IMMEDIATE; {_TABLES} {marks} COMMIT;")

    def _check(self, db: sqlite3.Connection) -> int:
        """The file's schema; an error if it is not ours, or newer than this program."""
        version, application = (
            db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("user_version", "application_id")
        )
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        is_ours = application in (0, APPLICATION)
        if is_ours and version > SCHEMA:
            raise UsageError(
                f"`{self.path}` has schema {version}, written by a newer Humboldt; this one knows schemas up "
                f"to {SCHEMA}. Update Humboldt, or choose another folder with --out."
            )
        if not is_ours or (tables and not tables >= ({"runs"} if version == 1 else {"trainings"})):
            raise UsageError(
                f"`{self.path}` is not a Humboldt database: it belongs to another program. Move it away, or choose "
                "another folder with --out."
            )
        return version

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        with databases.explained(self.path), self._open(self.path) as db:
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

    def done(self, written_as: str | None = None) -> dict[str, "Done"]:
        """What need not be done again, by the key of the training. Failures are tried again.

        `written_as`: look only at the training with this key in the file; what earlier versions wrote is left out.
        """
        all_done: dict[str, Done] = {}
        with self._connect() as db:
            for row in self._rows(db, written_as):
                done = all_done.setdefault(row.training.key, Done())
                table, column = ("results", "run") if row.is_old else ("members", "training")
                states = db.execute(
                    f"SELECT member, state FROM {table} WHERE {column} = ? AND state != 'failed'", (row.key,)
                ).fetchall()
                done.trained.update({member: _state(state, table) for member, state in states})
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
                    key = _evaluation(name, setting, version).key_for(row.training)
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
                    Failure(*about, json_object(member, "member"), str(json_object(detail, "detail").get("error", "")))
                    for member, detail in failed
                ]
        return failures

    def _rows(self, db: sqlite3.Connection, written_as: str | None = None) -> list[_Row]:
        rows = []
        columns = "training, suite, task, model, engine, setting, versions, format"
        if written_as is not None:
            found = db.execute(f"SELECT {columns} FROM trainings WHERE training = ?", (written_as,))
            return [self._row(*row, is_old=False) for row in found.fetchall()]
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if "runs" in tables:
            old = db.execute("SELECT run, suite, task, model, '', setting, versions, 1 FROM runs ORDER BY rowid")
            rows += [self._row(*row, is_old=True) for row in old.fetchall()]
        if "trainings" in tables:
            new = db.execute(f"SELECT {columns} FROM trainings ORDER BY rowid")
            rows += [self._row(*row, is_old=False) for row in new.fetchall()]
        return rows

    def _row(
        self,
        key: Any,
        suite: Any,
        task: Any,
        model: Any,
        engine: Any,
        setting: Any,
        versions: Any,
        format_: Any,
        *,
        is_old: bool,
    ) -> _Row:
        table = "runs" if is_old else "trainings"
        names = {"suite": suite, "task": task, "model": model, "engine": engine}
        training = Training(
            **{column: text(value, f"{table}.{column}") for column, value in names.items()},
            setting=json_object(setting, f"{table}.setting"),
            versions=json_object(versions, f"{table}.versions"),
        )
        try:
            return _Row(key, is_old, *self._upgrade(Written(training, int(number(format_, f"{table}.format")))))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadCell(f"{table}.setting of {key} lacks something, or has it in another form ({error!r})") from error


def _merged(earlier: Iterable[Result], later: Iterable[Result]) -> tuple[Result, ...]:
    """Every member once: as it was first finished, or as it failed last."""
    by_member: dict[str, Result] = {}
    for result in (*earlier, *later):
        key = canonical(result.member)
        if key not in by_member or by_member[key].state is State.FAILED:
            by_member[key] = result
    return tuple(by_member.values())


def _state(value: Any, table: str) -> State:
    try:
        return State(value)
    except ValueError:
        states = ", ".join(state.value for state in State)
        raise BadCell(f"{table}.state holds {value!r}, which is not one of {states}") from None


def _evaluation(name: Any, setting: Any, version: Any) -> Evaluation:
    setting = json_object(setting, "evaluations.setting")
    return Evaluation(text(name, "evaluations.name"), setting, json_value(version, "evaluations.version"))


def _measures(cell: Any, table: str) -> dict[str, float]:
    column = f"{table}.measures"
    return {name: number(value, column) for name, value in json_object(cell, column).items()}


def _old_scores(db: sqlite3.Connection, row: _Row) -> list[Scores]:
    found = db.execute(
        "SELECT member, state, measures, detail, environment, seconds FROM results WHERE run = ? ORDER BY rowid",
        (row.key,),
    )
    results = [
        Result(
            json_object(member, "results.member"),
            _state(state, "results"),
            _measures(measures, "results"),
            number(seconds, "results.seconds"),
            json_object(detail, "results.detail"),
            json_object(environment, "results.environment"),
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
            member: (
                _state(state, "scores"),
                _measures(measures, "scores"),
                json_object(detail, "scores.detail"),
                number(seconds, "scores.seconds"),
            )
            for member, state, measures, detail, seconds in db.execute(
                "SELECT member, state, measures, detail, seconds FROM scores WHERE evaluation = ?", (key,)
            )
        }
        results = []
        for member, trained, detail, environment, seconds in members:
            state, own = _state(trained, "members"), json_object(detail, "members.detail")
            seconds = number(seconds, "members.seconds")
            if state is State.FINISHED:
                if member not in scored:  # trained, but not asked about yet
                    continue
                state, measures, more, extra = scored[member]
                seconds, own = seconds + extra, {**own, **more}
            else:
                measures = {}
            which = json_object(member, "members.member")
            results.append(
                Result(which, state, measures, seconds, own, json_object(environment, "members.environment"))
            )
        found.append(Scores(row.training, _evaluation(name, setting, version), tuple(results)))
    return found
