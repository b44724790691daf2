"""What the tests of suites, studies and execution share."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from humboldt.core.events import AbstractSink, Event, Progress, Warned
from humboldt.core.identity import Evaluation, Member
from humboldt.core.results import Result, Scores, State
from humboldt.running.execution import ExperimentOutcome, Options, execute
from humboldt.suites.base import AbstractSuite
from humboldt.suites.departures import departures, sentence
from humboldt.suites.experiments import Experiment, Resolved, ScoringInput
from humboldt.training.base import AbstractPredictor

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


def scoring_input(
    suite: AbstractSuite,
    resolved: Resolved,
    evaluation: Evaluation,
    predictor: AbstractPredictor,
    members: Sequence[Member],
    sink: AbstractSink,
) -> ScoringInput:
    """A predictor to be scored on the problem that its members would have."""
    return ScoringInput(
        resolved=resolved,
        evaluation=evaluation,
        problem=suite.problem(resolved, members),
        predictor=predictor,
        members=tuple(members),
        sink=sink,
    )


def run_one(
    experiment: Experiment, folder: Path, sink: AbstractSink | None = None, **options: Any
) -> ExperimentOutcome:
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


def results_of(outcome: ExperimentOutcome) -> list[Result]:
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
