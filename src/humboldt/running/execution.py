"""Runs experiments: trains, scores and saves members. An executor decides where; only its caller writes results."""

import gc
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np

from humboldt.core.events import AbstractSink, Progress, Warned
from humboldt.core.identity import Evaluation, Member, canonical
from humboldt.core.results import ScoredMember, State, TrainedMember
from humboldt.errors import HumboldtError, contained, is_out_of_memory, named_extras
from humboldt.storage import checkpoints
from humboldt.storage.checkpoints import Checkpoints, begin_attempt, last_attempt
from humboldt.storage.store import checkpoint_folder, weights_path
from humboldt.suites import catalogue, suites
from humboldt.suites.base import AbstractSuite
from humboldt.suites.experiments import Experiment, MemberScore, ScoringInput
from humboldt.suites.resolving import resolved
from humboldt.training.base import (
    AbstractEngine,
    AbstractPredictor,
    AbstractProblem,
    AbstractTrained,
    Compile,
    Job,
    Road,
)

Keep = Literal["best", "all", "none"]
NEAR_CHANCE = 0.02  # accuracy above chance that counts as nothing learned


@dataclass(frozen=True)
class Options:
    """Options of a run that cannot change a result, but for rounding by another `road`, by `compile` or by `fused`.

    - `folder`: of checkpoints and weights.
    - `save_seconds`: between checkpoints; more if saving takes more than a tenth of that.
    - `keep`: the trained members to save.
    - `cores`: number of cores for an experiment; `None` means all cores of its process.
    - `road`: how the members of PyTorch modules are trained.
    - `compile`: whether `torch.compile` is tried for them.
    - `fused`: whether loops over time and attention of JAX networks may run as one kernel.
    - `can_be_forgotten`: whether the process may still be working when its work is given to another one, as on a
      machine that cannot be reached. Its checkpoints are then numbered by attempt.
    """

    folder: Path
    save_seconds: float = 30.0
    keep: Keep = "best"
    cores: int | None = None
    can_be_forgotten: bool = False
    road: Road = "auto"
    compile: Compile = "setting"
    fused: bool = True


@dataclass(frozen=True)
class ExperimentOutcome:
    """Result of an experiment, or of some of its members. `weights` are those to be saved.

    `is_interim`: the state before the next evaluation begins. It is stored in case the process is killed; a later
    outcome includes all of it.
    """

    experiment: Experiment
    trained: tuple[TrainedMember, ...] = ()
    scored: tuple[tuple[Evaluation, tuple[ScoredMember, ...]], ...] = ()
    weights: tuple[tuple[Member, dict[str, np.ndarray]], ...] = ()
    error: Exception | None = None
    checkpoints: Path | None = field(default=None)  # not needed once this is stored
    is_interim: bool = False

    @property
    def seconds(self) -> float:
        """Seconds of training and scoring."""
        scored = sum(row.seconds for _, rows in self.scored for row in rows)
        return sum(row.seconds for row in self.trained) + scored


Sinks = Callable[[Experiment], AbstractSink]


class AbstractExecutor(ABC):
    """Runs experiments and yields their outcomes as they come."""

    def check(self) -> None:  # noqa: B027  most can run anywhere
        """Raises a usage error if this executor cannot run here. Called before anything is written."""

    @abstractmethod
    def run(
        self, experiments: Iterable[Experiment | None], options: Options, sinks: Sinks
    ) -> Iterator[ExperimentOutcome | None]:
        """Yields the outcomes of all experiments; failures are outcomes with an `error`. Raises `Interrupted` if a sink
        requests a stop.

        Taking an experiment from the iterable claims it, so take no more than will begin soon. `None` means that
        nothing can begin now; an executor without other work yields it, and its caller waits a moment.
        """


class Here(AbstractExecutor):
    """Runs experiments in this process, one after the other."""

    def run(
        self, experiments: Iterable[Experiment | None], options: Options, sinks: Sinks
    ) -> Iterator[ExperimentOutcome | None]:
        has_begun = False
        for experiment in experiments:
            if experiment is None:
                yield None
                continue
            sink = sinks(experiment)
            if has_begun:
                sink.stop_if_requested()
            has_begun = True
            yield from in_groups(experiment, options, sink)


def in_groups(experiment: Experiment, options: Options, sink: AbstractSink) -> Iterator[ExperimentOutcome]:
    """Yields the outcomes of an experiment, or of its halves if its members do not fit into memory together."""
    outcome = ExperimentOutcome(experiment)
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
    gc.collect()  # free the memory of the failed attempt
    for half in halves(experiment):
        yield from in_groups(half, options, sink)


def halves(experiment: Experiment) -> list[Experiment]:
    """Splits an experiment into two by members, which do not depend on each other."""
    middle = (len(experiment.members) + 1) // 2
    parts = experiment.members[:middle], experiment.members[middle:]
    return [replace(experiment, members=part) for part in parts]


def execute(experiment: Experiment, options: Options, sink: AbstractSink) -> Iterator[ExperimentOutcome]:
    """Trains and scores the members of one experiment, resuming from disk. Yields interim outcomes, then the final one.

    An error in training is the outcome's error. An error in scoring is a failed score: the training is saved, and the
    next attempt only scores. An error after the user has requested a stop is the stop: Ctrl-C also ends programs that
    this process has started, such as a compiler.
    """
    try:
        with named_extras(), contained():
            yield (yield from _execute(experiment, options, sink))
    except HumboldtError:
        raise
    except Exception as error:
        sink.stop_if_requested()
        detail = {"error": "".join(traceback.format_exception(error))}
        failed = tuple(TrainedMember(member, State.FAILED, 0.0, detail) for member in experiment.members)
        unscored = tuple((evaluation, ()) for evaluation in experiment.evaluations)  # so that tables show the failure
        yield ExperimentOutcome(experiment, failed, unscored, error=error)


def _execute(
    experiment: Experiment, options: Options, sink: AbstractSink
) -> Generator[ExperimentOutcome, None, ExperimentOutcome]:
    """Yields interim outcomes and returns the last."""
    sink.send(Progress("starting", 0, 0))
    suite, objects = suites.get(experiment.training.suite), resolved(experiment)
    engine = catalogue.engine_of(objects.contender)
    job = suite.job(objects, experiment.members)
    job = replace(job, cores=options.cores, road=options.road, compile=options.compile, fused=options.fused)
    if experiment.score_only and (predictor := _restored(experiment, engine, job, options, sink)):
        places = list(range(len(experiment.members)))
        return (yield from _score_all(suite, experiment, job.problem, predictor, places, (), sink))
    begin = time.monotonic()
    folder = checkpoint_folder(options.folder, experiment.training, experiment.members)
    is_numbered = options.can_be_forgotten or last_attempt(folder) > 0
    attempt = begin_attempt(folder) if is_numbered else 0
    trained = engine.train(job, Checkpoints(folder, options.save_seconds, attempt), sink)
    seconds = (time.monotonic() - begin) / len(experiment.members)
    environment = engine.environment_of(job)
    rows = tuple(
        TrainedMember(
            member, State.FINISHED if out.diverged_at is None else State.DIVERGED, seconds, out.detail, environment
        )
        for member, out in zip(experiment.members, trained.outcomes, strict=True)
    )
    good = [i for i, row in enumerate(rows) if row.state is State.FINISHED]
    if at_chance := _at_chance(experiment, job, objects.task.chance, [rows[i] for i in good]):
        sink.send(Warned(at_chance))
    outcome = yield from _score_all(suite, experiment, job.problem, trained.predictor, good, rows, sink)
    if outcome.error is not None:  # the next attempt only scores, whatever its members
        kept = tuple((experiment.members[i], trained.weights(i)) for i in good)
    else:
        kept = _kept(suite, experiment, trained, outcome, options.keep)
    return replace(outcome, weights=kept, checkpoints=folder)


def _at_chance(experiment: Experiment, job: Job, chance: float, rows: Sequence[TrainedMember]) -> str:
    """Returns a warning if no member got better than chance in training, with the recipe; empty otherwise."""
    curves = [[x for x in row.detail.get("training", {}).get("accuracy", ()) if x is not None] for row in rows]
    last = [float(np.mean(curve[-max(1, len(curve) // 4) :])) for curve in curves if curve]
    if not last or not max(last) <= chance + NEAR_CHANCE:
        return ""
    recipe = job.recipe
    rates = ", ".join(f"{rate:g}" for rate in sorted({member.learning_rate for member in job.members}))
    return (
        f"{experiment.name}: nothing was learned. Accuracy on training strings was {100 * max(last):.1f} at the end, "
        f"and chance is {100 * chance:.1f}. Recipe: {recipe.optimiser}, learning rate {rates}, {recipe.steps:,} steps, "
        f"batches of {job.problem.batch_size}. Try more steps or another learning rate (`humboldt list settings "
        f"{experiment.training.suite}`)."
    )


def _restored(
    experiment: Experiment, engine: AbstractEngine, job: Job, options: Options, sink: AbstractSink
) -> AbstractPredictor | None:
    """Returns a predictor from saved weights; warns and returns `None` if these cannot be used."""
    paths = [weights_path(options.folder, experiment.training, member) for member in experiment.members]
    try:
        return engine.restore(job, [checkpoints.read(path)[0] for path in paths])
    except (checkpoints.Damaged, ValueError, KeyError) as error:
        sink.send(Warned(f"{experiment.name}: kept weights cannot be used: {error} Training again."))
        return None


def _score_all(
    suite: AbstractSuite,
    experiment: Experiment,
    problem: AbstractProblem,
    predictor: AbstractPredictor,
    good: Sequence[int],
    rows: tuple[TrainedMember, ...],
    sink: AbstractSink,
) -> Generator[ExperimentOutcome, None, ExperimentOutcome]:
    """Scores the members that have not diverged under every evaluation. Yields interim outcomes, returns the last."""
    members, objects = [experiment.members[i] for i in good], resolved(experiment)
    of_good = predictor.take(good) if good else None  # `None` if all members have diverged
    scored, first_error = [], None
    for evaluation in experiment.evaluations:
        if scored:
            yield ExperimentOutcome(experiment, rows, tuple(scored), is_interim=True)
        begin = time.monotonic()
        try:
            scores: list[MemberScore] = []
            if of_good is not None:
                scoring = ScoringInput(
                    resolved=objects,
                    evaluation=evaluation,
                    problem=problem,
                    predictor=of_good,
                    members=tuple(members),
                    sink=sink,
                )
                with contained():
                    scores = score(suite, scoring)
        except HumboldtError:
            raise
        except Exception as error:
            sink.stop_if_requested()
            first_error = first_error or error
            detail = {"error": "".join(traceback.format_exception(error))}
            scored.append((evaluation, tuple(ScoredMember(member, State.FAILED, detail=detail) for member in members)))
            continue
        seconds = (time.monotonic() - begin) / max(1, len(members))
        results = (
            ScoredMember(member, State.FINISHED, dict(each.measures), seconds, dict(each.detail))
            for member, each in zip(members, scores, strict=True)
        )
        scored.append((evaluation, tuple(results)))
    # Halves could not fix an error of memory here: `score` has tried that.
    error = None if first_error is None else ScoringFailed(first_error)
    return ExperimentOutcome(experiment, rows, tuple(scored), error=error)


class ScoringFailed(Exception):
    """Training succeeded, scoring failed."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(f"scoring failed: {type(cause).__name__}: {str(cause).splitlines()[0] if str(cause) else ''}")
        self.__cause__ = cause


def score(suite: AbstractSuite, scoring: ScoringInput) -> list[MemberScore]:
    """Scores all members at once, or recursively in halves if memory is short."""
    try:
        return suite.score(scoring)
    except Exception as error:
        if not is_out_of_memory(error) or len(scoring.members) < 2:
            raise
    gc.collect()
    places, middle = range(len(scoring.members)), len(scoring.members) // 2
    return [scored for half in (places[:middle], places[middle:]) for scored in score(suite, scoring.take(list(half)))]


def _kept(
    suite: AbstractSuite, experiment: Experiment, trained: AbstractTrained, outcome: ExperimentOutcome, keep: Keep
) -> tuple[tuple[Member, dict[str, np.ndarray]], ...]:
    """Returns the weights to save: of all members, of the best by the suite's headline measure, or of none."""
    places = {canonical(member): i for i, member in enumerate(experiment.members)}
    values = {
        canonical(result.member): result.measures[suite.headline]
        for _, results in outcome.scored
        for result in results
        if suite.headline in result.measures
    }
    if keep == "none" or not values:
        return ()
    saved = list(values) if keep == "all" else [max(values, key=lambda m: values[m])]
    return tuple((experiment.members[places[m]], trained.weights(places[m])) for m in saved)
