"""What the tests of suites, studies and execution share."""

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from humboldt.events import AbstractSink, Event, Progress, Warned
from humboldt.execution import Options, Outcome, execute
from humboldt.identity import Evaluation, Member
from humboldt.results import Result, Scores, State
from humboldt.suites.base import AbstractSuite
from humboldt.suites.departures import departures, sentence
from humboldt.suites.experiments import Experiment

TINY = {
    "steps": 20,
    "batch_size": 4,
    "hidden_size": 8,
    "train_lengths": (1, 6),
    "test_lengths": (7, 9),
    "strings_per_length": 3,
    "learning_rates": (1e-3,),
}  # of the Chomsky suite: one compiled program of each kind serves all tests that use it


class Recording(AbstractSink):
    """Remembers all events, and asks to stop after so many questions."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.events: list[Event] = []
        self._left = stop_after

    def send(self, event: Event) -> None:
        self.events.append(event)

    def should_stop(self) -> bool:
        if self._left is None:
            return False
        self._left -= 1
        return self._left < 0

    @property
    def warnings(self) -> list[str]:
        return [event.message for event in self.events if isinstance(event, Warned)]

    @property
    def phases(self) -> set[str]:
        return {event.phase for event in self.events if isinstance(event, Progress)}


def run_one(experiment: Experiment, folder: Path, sink: AbstractSink | None = None, **options: Any) -> Outcome:
    """Trains and scores one experiment; whatever fails is raised."""
    *_, outcome = execute(experiment, Options(folder, **options), sink or Recording())
    if outcome.error is not None:
        raise outcome.error
    return outcome


def result(
    member: Member,
    measures: Mapping[str, float] | None = None,
    state: State = State.FINISHED,
    detail: Mapping[str, Any] | None = None,
) -> Result:
    return Result(member, state, measures or {}, 1.0, detail or {}, {})


def results_of(outcome: Outcome) -> list[Result]:
    """The members of an outcome under its first evaluation, as a store would show them."""
    scored = {str(one.member): one for one in outcome.scored[0][1]}
    found = []
    for one in outcome.trained:
        extra = scored.get(str(one.member))
        measures, more = (extra.measures, extra.detail) if extra else ({}, {})
        state = extra.state if extra else one.state
        found.append(Result(one.member, state, measures, one.seconds, {**one.detail, **more}, one.environment))
    return found


def scores_of(experiment: Experiment, results: Sequence[Result], evaluation: Evaluation | None = None) -> Scores:
    return Scores(experiment.training, evaluation or experiment.evaluations[0], tuple(results))


def departures_of(suite: AbstractSuite, experiments: Sequence[Experiment]) -> str:
    return sentence(departures(suite, [(e.training, e.evaluations[0], e.members) for e in experiments]))


SCHEMA_1 = """
CREATE TABLE runs (run TEXT PRIMARY KEY, suite TEXT NOT NULL, task TEXT NOT NULL, model TEXT NOT NULL,
    label TEXT NOT NULL, setting TEXT NOT NULL, versions TEXT NOT NULL);
CREATE TABLE results (run TEXT NOT NULL REFERENCES runs (run), member TEXT NOT NULL, state TEXT NOT NULL,
    measures TEXT NOT NULL, detail TEXT NOT NULL, environment TEXT NOT NULL, seconds REAL NOT NULL,
    finished_at TEXT NOT NULL, PRIMARY KEY (run, member));
PRAGMA user_version = 1;
"""  # as version 0.1 of the package made it


def write_schema_1(folder: Path, run: Sequence[str], results: Sequence[Sequence[str]]) -> None:
    """A store as version 0.1 wrote it: `run` is a row of its table, `results` are member, state, measures, detail."""
    folder.mkdir(parents=True, exist_ok=True)
    is_new = not (folder / "results.db").exists()
    with sqlite3.connect(folder / "results.db") as db:
        if is_new:
            db.execute("PRAGMA journal_mode = WAL")
            db.executescript(SCHEMA_1)
        db.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)", run)
        rest = ('{"humboldt":"0.1.0","python":"3.11.7"}', 2.5, "2026-11-01T00:00:00+00:00")
        db.executemany(
            "INSERT INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [(run[0], *one, *rest) for one in results]
        )
    db.close()
