"""Running experiments: train, keep, score. An executor says where; only its caller writes results."""

import gc
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np

from humboldt import checkpoints
from humboldt.checkpoints import Checkpoints, begin_attempt, last_attempt
from humboldt.errors import HumboldtError, is_out_of_memory, named_extras
from humboldt.events import AbstractSink, Progress, Warned
from humboldt.identity import Evaluation, Member, canonical
from humboldt.results import ScoredMember, State, TrainedMember
from humboldt.store import checkpoint_folder, weights_path
from humboldt.suites import suites
from humboldt.suites.base import AbstractSuite
from humboldt.suites.experiments import Experiment, Scored, Scoring
from humboldt.training.base import AbstractEngine, AbstractPredictor, AbstractTrained, Job

Keep = Literal["best", "all", "none"]


@dataclass(frozen=True)
class Options:
    """How experiments are run; none of it can change a result.

    - `folder`: where checkpoints and weights are.
    - `save_seconds`: between checkpoints; more where saving takes more than a tenth of that.
    - `keep`: which trained members are kept.
    - `cores`: how many an experiment may use; `None` means all that its process may.
    - `can_be_forgotten`: whether the process may be left working when its work is given to another one, as on a machine
      that cannot be reached. Its checkpoints are then numbered by attempt.
    """

    folder: Path
    save_seconds: float = 30.0
    keep: Keep = "best"
    cores: int | None = None
    can_be_forgotten: bool = False


@dataclass(frozen=True)
class Outcome:
    """What one experiment, or a part of its members, has come to. `weights` are those to be kept.

    `is_interim`: all that is known now, before the next evaluation begins. It is stored, should the process not live to
    the end; another outcome follows, with all of this in it.
    """

    experiment: Experiment
    trained: tuple[TrainedMember, ...] = ()
    scored: tuple[tuple[Evaluation, tuple[ScoredMember, ...]], ...] = ()
    weights: tuple[tuple[Member, dict[str, np.ndarray]], ...] = ()
    error: Exception | None = None
    checkpoints: Path | None = field(default=None)  # of no use once this is stored
    is_interim: bool = False


Sinks = Callable[[Experiment], AbstractSink]


class AbstractExecutor(ABC):
    """Runs experiments somewhere and hands back their outcomes as they come."""

    @abstractmethod
    def run(self, experiments: Iterable[Experiment | None], options: Options, sinks: Sinks) -> Iterator[Outcome | None]:
        """All experiments; what fails is an outcome with an `error`. Raises `Interrupted` if a sink asks to stop.

        Every experiment that is asked for is claimed: ask for no more than will soon begin. `None` among them says
        that nothing can begin now, and to ask again later; an executor that has nothing else to do hands it on, and
        its caller waits a moment.
        """


class Here(AbstractExecutor):
    """In this process, one after the other."""

    def run(self, experiments: Iterable[Experiment | None], options: Options, sinks: Sinks) -> Iterator[Outcome | None]:
        for experiment in experiments:
            if experiment is None:
                yield None
            else:
                yield from in_groups(experiment, options, sinks(experiment))


def in_groups(experiment: Experiment, options: Options, sink: AbstractSink) -> Iterator[Outcome]:
    """The outcomes of an experiment; where its members do not fit into memory together, those of each half of them."""
    outcome = Outcome(experiment)
    for outcome in execute(experiment, options, sink):
        if outcome.is_interim:
            yield outcome
    is_too_large = is_out_of_memory(outcome.error) if outcome.error else False
    if not is_too_large or isinstance(outcome.error, ScoringFailed) or len(experiment.members) == 1:
        yield outcome
        return
    message = f"{experiment.name}: {len(experiment.members)} members together need more memory than there is."
    sink.send(Warned(f"{message} Retrying in two halves."))
    del outcome
    gc.collect()  # what the failed attempt still holds is needed now
    for half in halves(experiment):
        yield from in_groups(half, options, sink)


def halves(experiment: Experiment) -> list[Experiment]:
    """The same for the first and for the second half of the members, which do not depend on each other."""
    middle = (len(experiment.members) + 1) // 2
    parts = experiment.members[:middle], experiment.members[middle:]
    return [replace(experiment, members=part) for part in parts]


def execute(experiment: Experiment, options: Options, sink: AbstractSink) -> Iterator[Outcome]:
    """Trains and scores the members of one experiment, going on from what is on disk. The last outcome has everything;
    those before it are interim.

    An error of training is the outcome's error. An error of scoring is a failed score: the training is kept, and the
    next attempt only scores.
    """
    try:
        with named_extras():
            yield (yield from _execute(experiment, options, sink))
    except HumboldtError:
        raise
    except Exception as error:
        detail = {"error": "".join(traceback.format_exception(error))}
        failed = tuple(TrainedMember(member, State.FAILED, 0.0, detail) for member in experiment.members)
        nothing = tuple((evaluation, ()) for evaluation in experiment.evaluations)  # so that tables show the failure
        yield Outcome(experiment, failed, nothing, error=error)


def _execute(experiment: Experiment, options: Options, sink: AbstractSink) -> Generator[Outcome, None, Outcome]:
    """Yields interim outcomes and returns the last."""
    sink.send(Progress("starting", 0, 0))
    suite = suites.get(experiment.training.suite)
    parts = suite.restore(experiment.training, experiment.evaluations[0])
    engine = suite.engine(parts.contender)
    job = replace(suite.job(parts, experiment.members), cores=options.cores)
    if experiment.kept and (predictor := _restored(experiment, engine, job, options, sink)):
        return (yield from _score_all(suite, experiment, predictor, list(range(len(experiment.members))), (), sink))
    begin = time.monotonic()
    folder = checkpoint_folder(options.folder, experiment.training, experiment.members)
    is_numbered = options.can_be_forgotten or last_attempt(folder) > 0
    attempt = begin_attempt(folder) if is_numbered else 0
    trained = engine.train(job, Checkpoints(folder, options.save_seconds, attempt), sink)
    seconds = (time.monotonic() - begin) / len(experiment.members)
    environment = engine.environment()
    rows = tuple(
        TrainedMember(
            member, State.FINISHED if out.diverged_at is None else State.DIVERGED, seconds, out.detail, environment
        )
        for member, out in zip(experiment.members, trained.outcomes, strict=True)
    )
    good = [i for i, row in enumerate(rows) if row.state is State.FINISHED]
    outcome = yield from _score_all(suite, experiment, trained.predictor, good, rows, sink)
    if outcome.error is not None:  # the next attempt, of whichever members, only scores
        kept = tuple((experiment.members[i], trained.weights(i)) for i in good)
    else:
        kept = _kept(suite, experiment, trained, outcome, options.keep)
    return replace(outcome, weights=kept, checkpoints=folder)


def _restored(
    experiment: Experiment, engine: AbstractEngine, job: Job, options: Options, sink: AbstractSink
) -> AbstractPredictor | None:
    """The members from their kept weights; nothing, and a warning, where these cannot be used."""
    paths = [weights_path(options.folder, experiment.training, member) for member in experiment.members]
    try:
        return engine.restore(job, [checkpoints.read(path)[0] for path in paths])
    except (checkpoints.Damaged, ValueError, KeyError) as error:
        sink.send(Warned(f"{experiment.name}: kept weights cannot be used: {error} Training again."))
        return None


def _score_all(
    suite: AbstractSuite,
    experiment: Experiment,
    predictor: AbstractPredictor,
    good: Sequence[int],
    rows: tuple[TrainedMember, ...],
    sink: AbstractSink,
) -> Generator[Outcome, None, Outcome]:
    """The scores of members that have not diverged, under every evaluation; yields interim outcomes between these."""
    members = [experiment.members[i] for i in good]
    scored, first_error = [], None
    for evaluation in experiment.evaluations:
        if scored:
            yield Outcome(experiment, rows, tuple(scored), is_interim=True)
        parts = suite.restore(experiment.training, evaluation)
        begin = time.monotonic()
        try:
            scoring = Scoring(parts, evaluation, predictor.take(good), tuple(members), sink)
            found = score(suite, scoring) if good else []
        except HumboldtError:
            raise
        except Exception as error:
            first_error = first_error or error
            detail = {"error": "".join(traceback.format_exception(error))}
            scored.append((evaluation, tuple(ScoredMember(member, State.FAILED, detail=detail) for member in members)))
            continue
        seconds = (time.monotonic() - begin) / max(1, len(members))
        results = (
            ScoredMember(member, State.FINISHED, measures, seconds, detail)
            for member, (measures, detail) in zip(members, found, strict=True)
        )
        scored.append((evaluation, tuple(results)))
    # An error here is not one of memory that halves could mend: `score` has tried that.
    error = None if first_error is None else ScoringFailed(first_error)
    return Outcome(experiment, rows, tuple(scored), error=error)


class ScoringFailed(Exception):
    """Training went well, scoring did not."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(f"scoring failed: {type(cause).__name__}: {str(cause).splitlines()[0] if str(cause) else ''}")
        self.__cause__ = cause


def score(suite: AbstractSuite, scoring: Scoring) -> list[Scored]:
    """Scores all members at once, or in halves (and halves of these) where memory is short."""
    try:
        return suite.score(scoring)
    except Exception as error:
        if not is_out_of_memory(error) or len(scoring.members) < 2:
            raise
    gc.collect()
    everybody, middle = range(len(scoring.members)), len(scoring.members) // 2
    return [
        scored for half in (everybody[:middle], everybody[middle:]) for scored in score(suite, scoring.take(list(half)))
    ]


def _kept(
    suite: AbstractSuite, experiment: Experiment, trained: AbstractTrained, outcome: Outcome, keep: Keep
) -> tuple[tuple[Member, dict[str, np.ndarray]], ...]:
    """The weights of all members, or of the best by the suite's headline measure."""
    places = {canonical(member): i for i, member in enumerate(experiment.members)}
    values = {
        canonical(one.member): one.measures[suite.headline]
        for _, results in outcome.scored
        for one in results
        if suite.headline in one.measures
    }
    if keep == "none" or not values:
        return ()
    chosen = list(values) if keep == "all" else [max(values, key=lambda m: values[m])]
    return tuple((experiment.members[places[m]], trained.weights(places[m])) for m in chosen)
