"""Results on disk: one SQLite file, in which finished rows are never edited.

Contract: a row is written once, completely, in one transaction. Reading never sees half a result, and never writes. A
second process may read while one writes. A file with a newer schema, or of another program, is refused. Settings that
were renamed since are upgraded in memory when they are read; the rows are not changed. Rows that were changed after
they were written (see `rows`) are left out of scores, with a remark; writing to such a file is an error.
"""

import sqlite3
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from humboldt.core.identity import Evaluation, Member, Training, canonical, short_hash
from humboldt.core.results import Result, ScoredMember, Scores, State, TrainedMember
from humboldt.errors import UsageError
from humboldt.storage import databases, rows
from humboldt.storage.databases import BadCell, json_object, json_value, number, text
from humboldt.storage.details import Detail
from humboldt.storage.rows import APPLICATION, SCHEMA, Row, RowReader


@dataclass(frozen=True)
class Written:
    """The description of a training as some version wrote it. `format` is that of the suite's settings."""

    training: Training
    format: int


Upgrade = Callable[[Written], Training]
"""Migrates a stored training to the current names of settings."""


def as_written(written: Written) -> Training:
    """Returns the training without any upgrade."""
    return written.training


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
    """Members of one training, as canonical JSON: the end of their training, and the scored members by evaluation."""

    trained: dict[str, State] = field(default_factory=dict)
    scored: dict[str, set[str]] = field(default_factory=dict)

    def __or__(self, other: "Done") -> "Done":
        """Returns the union of both."""
        keys = {**self.scored, **other.scored}
        scored = {key: self.scored.get(key, set()) | other.scored.get(key, set()) for key in keys}
        return Done({**self.trained, **other.trained}, scored)


def checkpoint_folder(folder: Path, training: Training, members: Iterable[Member]) -> Path:
    """Returns the folder of the checkpoints of these members."""
    group = short_hash(sorted(canonical(member) for member in members), 8)
    return folder / "checkpoints" / f"{training.key}-{group}"


def weights_path(folder: Path, training: Training, member: Member) -> Path:
    """Returns the path of the saved weights of a member."""
    return folder / "weights" / training.key / f"{short_hash(member)}.weights"


class Store:
    """The results of one folder, `FOLDER/results.db`.

    `Store(folder)` creates the folder and the file if they are missing; `Store.open(folder)` only reads. `remarks` has
    messages about the rows that were read last: those left out because they are damaged, and the number that could not
    be checked.
    """

    def __init__(self, folder: Path, upgrade: Upgrade = as_written) -> None:
        self.folder = folder
        self.path = folder / "results.db"
        self.remarks: list[str] = []
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
            if self.path.exists():  # checked before anything is written, even the mode of the journal
                with databases.open_to_read(self.path) as db:
                    self._check(db)
            self._prepare()

    @classmethod
    def open(cls, folder: Path, upgrade: Upgrade = as_written) -> "Store":
        """Returns the store of a folder that already has results, for reading only."""
        store = cls.__new__(cls)
        store.folder, store.path, store._upgrade = folder, folder / "results.db", upgrade
        store.remarks = []
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
            if self._check(db) < SCHEMA:
                rows.prepare(db)

    def _check(self, db: sqlite3.Connection) -> int:
        """Returns the file's schema; raises if the file is of another program or of a newer schema."""
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
        if is_ours and "runs" in tables:
            raise UsageError(
                f"`{self.path}` was written by Humboldt 0.1, which had other tables. Read it with that version, or "
                "choose another folder with --out."
            )
        if not is_ours or (tables and "trainings" not in tables):
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
        """Adds results, all or none. Existing rows are not changed, except that a member's failure is replaced."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._connect() as db:
            db.execute("BEGIN IMMEDIATE")
            total = rows.Total.stored(db, training.key)
            names = training.key, training.suite, training.task, training.model, training.engine
            rows.insert(
                db, "trainings", (*names, canonical(training.setting), canonical(training.versions), int(format))
            )

            def put(table: str, key: str, result: TrainedMember | ScoredMember, *texts: str) -> None:
                member = canonical(result.member)
                values = (key, member, result.state.value, *texts, float(result.seconds), now)
                total.remove(rows.delete_failed(db, table, key, member))
                total.add(rows.insert(db, table, values))

            for result in trained:
                put("members", training.key, result, canonical(result.detail), canonical(result.environment))
            for evaluation, results in scored:
                key = evaluation.key_for(training)
                about = training.key, evaluation.name, canonical(evaluation.setting), canonical(evaluation.version)
                total.add(rows.insert(db, "evaluations", (key, *about)))
                for result in results:
                    put("scores", key, result, canonical(result.measures), canonical(result.detail))
            total.store(db, training.key)
            db.execute("COMMIT")

    def done(self, written_as: str | None = None) -> dict[str, "Done"]:
        """Returns the finished work, by the key of the training, without failures, which are tried again. Raises a
        usage error if a row is damaged: nothing is added to such a file.

        `written_as`: read only the training with this key in the file, without those of earlier versions.
        """
        with self._connect() as db:
            reading = RowReader(db)
            done = self._done(reading, written_as)
        self._conclude(reading, stops=True)
        return done

    def _done(self, reading: RowReader, written_as: str | None = None) -> dict[str, "Done"]:
        all_done: dict[str, Done] = {}
        for key, training in self._trainings(reading):
            if written_as not in (None, key):
                continue
            done = all_done.setdefault(training.key, Done())
            states = {row.values[1]: _state(row.values[2], "members") for row in reading.members(key)}
            done.trained.update({member: state for member, state in states.items() if state is not State.FAILED})
            for row in reading.evaluations(key):
                its_key = _evaluation(row).key_for(training)
                states = {
                    score.values[1]: _state(score.values[2], "scores") for score in reading.scores(key, row.values[0])
                }
                scored = {member for member, state in states.items() if state is not State.FAILED}
                if scored:
                    done.scored.setdefault(its_key, set()).update(scored)
            reading.check_total(key)
        return all_done

    def scores(self, suite: str | None = None) -> list[Scores]:
        """Returns all evaluations with their members, oldest first. Each member occurs once."""
        by_key: dict[str, Scores] = {}
        with self._connect() as db:
            reading = RowReader(db)
            for key, training in self._trainings(reading):
                if suite not in (None, training.suite):
                    continue
                for scores in _scores(reading, key, training):
                    its_key = scores.evaluation.key_for(training)
                    earlier = by_key.get(its_key)
                    if earlier is not None:
                        scores = Scores(training, scores.evaluation, _merged(earlier.results, scores.results))
                    by_key[its_key] = scores
        self._conclude(reading, stops=self._open is databases.open_to_write)
        return list(by_key.values())

    def failures(self, suite: str | None = None) -> list["Failure"]:
        """Returns failures of training or scoring that have no later result."""
        failures = []
        with self._connect() as db:
            done, reading = self._done(RowReader(db)), RowReader(db)
            for key, training in self._trainings(reading):
                if suite not in (None, training.suite):
                    continue
                failed = [
                    (row.values[1], row.values[3])
                    for row in reading.members(key)
                    if row.fits and row.values[2] == State.FAILED.value
                    if row.values[1] not in done[training.key].trained
                ]
                failed += [
                    (row.values[1], row.values[4])
                    for evaluation in reading.evaluations(key)
                    for row in reading.scores(key, evaluation.values[0])
                    if row.fits and row.values[2] == State.FAILED.value
                ]
                reading.check_total(key)
                about = training.suite, training.task, training.model
                failures += [
                    Failure(*about, json_object(member, "member"), str(json_object(detail, "detail").get("error", "")))
                    for member, detail in failed
                ]
        self._conclude(reading, stops=False)
        return failures

    def _conclude(self, reading: RowReader, *, stops: bool) -> None:
        """Stores the remarks of a reading; with `stops`, raises them as an error if there is damage."""
        if reading.damage and stops:
            raise UsageError(reading.sentences(self.path, f"{self._way_out} It was not changed.")[0])
        self.remarks = reading.sentences(self.path, self._way_out)

    @property
    def _way_out(self) -> str:
        return (
            f"Restore the file from a copy; or copy the intact rows to a new folder with `humboldt merge {self.folder} "
            "--out NEW`, and run the missing work there."
        )

    def _trainings(self, reading: RowReader) -> Iterator[tuple[str, Training]]:
        """Yields the intact trainings: their keys in the file, and the upgraded trainings."""
        for row in list(reading.trainings()):
            key, suite, task, model, engine, setting, versions, format_ = row.values
            names = {"suite": suite, "task": task, "model": model, "engine": engine}
            training = Training(
                **{column: text(value, f"trainings.{column}") for column, value in names.items()},
                setting=json_object(setting, "trainings.setting"),
                versions=json_object(versions, "trainings.versions"),
            )
            try:
                training = self._upgrade(Written(training, int(number(format_, "trainings.format"))))
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise BadCell(
                    f"trainings.setting of {key} lacks something, or has it in another form ({error!r})"
                ) from error
            if row.fits:
                yield key, training


def _merged(earlier: Iterable[Result], later: Iterable[Result]) -> tuple[Result, ...]:
    """Returns every member once: its first finished result, or its last failure."""
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


def _evaluation(row: Row) -> Evaluation:
    _, _, name, setting, version = row.values
    setting = json_object(setting, "evaluations.setting")
    return Evaluation(text(name, "evaluations.name"), setting, json_value(version, "evaluations.version"))


def _measures(cell: Any) -> dict[str, float]:
    measures = _interned(json_object(cell, "scores.measures"))
    return {name: number(value, "scores.measures") for name, value in measures.items()}


def _interned(value: dict[str, Any]) -> dict[str, Any]:
    """Returns an object whose keys are shared with other objects: 100,000 members have the same."""
    return {sys.intern(name): part for name, part in value.items()}


def _detail(row: Row, cell: str, column: str) -> str:
    """Returns a detail as text. It is parsed now only if no valid digest covers it."""
    if not row.digest or not row.fits:
        json_object(cell, column)
    return cell


def _scores(reading: RowReader, key: str, training: Training) -> Iterator[Scores]:
    """Yields the results of a training under each of its evaluations. Cells of damaged rows are also read: a file with
    an unreadable cell was edited, and is refused completely."""
    environments: dict[str, dict[str, str]] = {}  # shared: equal for nearly all members
    trained: dict[str, tuple[Result, str]] = {}
    for row in reading.members(key):
        _, member, state, detail, environment, seconds, _ = row.values
        if environment not in environments:
            environments[environment] = json_object(environment, "members.environment")
        detail = _detail(row, detail, "members.detail")
        result = Result(
            _interned(json_object(member, "members.member")),
            _state(state, "members"),
            {},
            number(seconds, "members.seconds"),
            Detail(detail),
            environments[environment],
        )
        if row.fits:
            trained[member] = result, detail
    for evaluation in reading.evaluations(key):
        scored: dict[str, Result] = {}
        for row in reading.scores(key, evaluation.values[0]):
            _, member, state, measures, detail, seconds, _ = row.values
            state, measures = _state(state, "scores"), _measures(measures)
            seconds, detail = number(seconds, "scores.seconds"), _detail(row, detail, "scores.detail")
            if row.fits and member in trained:
                result, own = trained[member]
                seconds += result.seconds
                scored[member] = Result(
                    result.member, state, measures, seconds, Detail(own, detail), result.environment
                )
        results = []
        for member, (result, _) in trained.items():
            if result.state is not State.FINISHED:
                results.append(result)
            elif member in scored:  # others are trained, but not yet scored
                results.append(scored[member])
        described = _evaluation(evaluation)
        if evaluation.fits:
            yield Scores(training, described, tuple(results))
    reading.check_total(key)
